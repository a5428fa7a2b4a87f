package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
)

// task is what an agent is asked to do on a page, and what the page says once it is done. CODE is
// the word that only this run's pages have.
type task struct {
	name string
	do   func(ctx context.Context, a *agent) error
	want map[string]string
}

var tasks = []task{
	{"login form", on("login", func(ctx context.Context, a *agent) error {
		if err := a.fillIn(ctx, field{role: "textbox", name: "User name", value: "ann"}, field{role: "textbox", name: "Password", value: "secret"}); err != nil {
			return err
		}
		return a.click(ctx, "button", "Sign in")
	}), words("user", "ann", "password", "secret")},
	{"long form", on("order", func(ctx context.Context, a *agent) error {
		if err := a.fillIn(
			ctx, field{role: "textbox", name: "Name", value: "Ann"}, field{role: "textbox", name: "Note", value: "Ring twice"},
			field{role: "combobox", name: "Size", value: "Large"}, field{role: "checkbox", name: "Gift", value: "true"},
			field{role: "radio", name: "Courier", value: "true"}, field{role: "textbox", name: "E-mail", value: "ann@a.test"},
		); err != nil {
			return err
		}
		return a.click(ctx, "button", "Send order")
	}), words("name", "Ann", "note", "Ring twice", "size", "Large", "gift", "on", "way", "courier", "mail", "ann@a.test")},
	{"date, number, range, select", on("fields", func(ctx context.Context, a *agent) error {
		if err := a.fillIn(
			ctx, field{role: a.dateRole(), name: "Arrival", value: "2027-03-14"}, field{role: "spinbutton", name: "Guests", value: "3"},
			field{role: "slider", name: "Budget", value: "70"}, field{role: "combobox", name: "Room", value: "Double"},
		); err != nil {
			return err
		}
		return a.click(ctx, "button", "Book")
	}), words("arrival", "2027-03-14", "guests", "3", "budget", "70", "room", "d")},
	{"form refused, and mended", on("validate", func(ctx context.Context, a *agent) error {
		if err := a.write(ctx, "Voucher", "SPRING"); err != nil {
			return err
		}
		if err := a.clickAndLook(ctx, "button", "Redeem"); err != nil {
			return err
		}
		code, err := a.code(ctx)
		if err != nil {
			return err
		}
		if err := a.write(ctx, "Voucher", code); err != nil {
			return err
		}
		return a.click(ctx, "button", "Redeem")
	}), words("voucher", "CODE")},
	{"alert while clicking", on("alert", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.blocked(ctx, "button", "Check stock") },
			func() error { return a.answer(ctx, true, "") },
			func() error { return a.click(ctx, "button", "Buy") },
		)
	}), words("alerted", "yes", "bought", "yes")},
	{"confirm", on("confirm", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.blocked(ctx, "button", "Delete files") },
			func() error { return a.answer(ctx, true, "") },
		)
	}), words("confirmed", "true")},
	{"prompt", on("prompt", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.blocked(ctx, "button", "Name yourself") },
			func() error { return a.answer(ctx, true, "Ann") },
		)
	}), words("given", "Ann")},
	{"two dialogs in a row", on("twodialogs", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.blocked(ctx, "button", "Ask twice") },
			func() error { return a.answer(ctx, false, "") },
			func() error { return a.answer(ctx, true, "second") },
		)
	}), words("first", "false", "second", "second")},
	{"alert while loading", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return unlessTool(a.goTo(ctx, "alertload")) },
			func() error { return a.answer(ctx, true, "") },
			func() error { return a.click(ctx, "button", "Go on") },
		)
	}, words("went", "on")},
	{"beforeunload", on("unload", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.do(ctx, "type", "textbox", "Draft", "words", false) },
			func() error { return unlessTool(a.goTo(ctx, "end")) },
			func() error { return a.answer(ctx, true, "") },
			func() error { a.seen = ""; return a.click(ctx, "button", "Finish") },
		)
	}), words("end", "reached")},
	{"frame of the same origin", on("frame", func(ctx context.Context, a *agent) error {
		return a.click(ctx, "button", "Pay inside")
	}), words("framed", "yes")},
	{"nested frames of three origins", on("nested", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.write(ctx, "One-time code", "123456") },
			func() error { return a.click(ctx, "button", "Confirm payment") },
		)
	}), words("otp", "123456")},
	{"twenty frames", on("frames", func(ctx context.Context, a *agent) error {
		return a.click(ctx, "button", "Finish")
	}), words("end", "reached")},
	{"popup and back", on("popup", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.click(ctx, "button", "Choose colour") },
			func() error { return a.turnTo(ctx, "popupchild") },
			func() error { return a.click(ctx, "button", "Green") },
			func() error { return a.turnTo(ctx, "popup\\b") },
			func() error { return a.click(ctx, "button", "Save colour") },
		)
	}), words("colour", "green")},
	{"two tabs", on("source", func(ctx context.Context, a *agent) error {
		code, err := a.code(ctx)
		if err != nil {
			return err
		}
		return first(
			func() error { a.seen = ""; return a.tab(ctx, a.site.url(a.run, "target")) },
			func() error { return a.write(ctx, "Word", code) },
			func() error { return a.click(ctx, "button", "Send word") },
		)
	}), words("word", "CODE")},
	{"basic authentication", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.login(ctx, a.site.url(a.run, "guarded"), "ann", "keep out") },
			func() error { return a.click(ctx, "button", "Finish") },
		)
	}, words("end", "reached")},
	{"upload into an input", on("upload", func(ctx context.Context, a *agent) error {
		return a.give(ctx, "Document")
	}), words("file", "note.txt", "text", "a short note")},
	{"upload by a button", on("chooser", func(ctx context.Context, a *agent) error {
		return a.give(ctx, "Attach a file")
	}), words("file", "note.txt", "text", "a short note")},
	{"download and read", on("download", func(ctx context.Context, a *agent) error {
		ref, err := a.find(ctx, "link", "Price list")
		if err != nil {
			return err
		}
		text, err := a.download(ctx, ref, "file.csv")
		if err != nil {
			return err
		}
		code, ok := match(text, `teapot,(K\d{5})`)
		if !ok {
			return fmt.Errorf("no code in %q", shorten(text, 200))
		}
		return first(
			func() error { return a.write(ctx, "Code of the teapot", code) },
			func() error { return a.click(ctx, "button", "Send code") },
		)
	}), words("code", "CODE")},
	{"combobox", on("combobox", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.do(ctx, "type", "combobox", "City", "Gr", true) },
			func() error { return a.click(ctx, "option", "Grenoble") },
		)
	}), words("city", "Grenoble")},
	{"editor", on("editor", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.write(ctx, "Message", "Dear all") },
			func() error { return a.click(ctx, "button", "Post") },
		)
	}), words("message", "Dear all")},
	{"drag by pointer", on("drag", func(ctx context.Context, a *agent) error {
		return a.move(ctx, "Card", "Done column")
	}), words("dropped", "done")},
	{"drag and drop", on("dragdrop", func(ctx context.Context, a *agent) error {
		return a.move(ctx, "Invoice", "Archive")
	}), words("archived", "invoice")},
	{"hover menu", on("hover", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.do(ctx, "hover", "button", "Account", "", true) },
			func() error { return a.click(ctx, "button", "Sign out") },
		)
	}), words("signed", "out")},
	{"keys", on("keys", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.click(ctx, "application", "Board") },
			func() error { return a.press(ctx, "ArrowDown", 2) },
			func() error { return a.press(ctx, "Enter", 1) },
		)
	}), words("row", "2")},
	{"virtual list", on("virtual", func(ctx context.Context, a *agent) error {
		if _, err := a.find(ctx, "button", "Guest 4"); err != nil {
			return err
		}
		ref, ok := a.ref(a.seen, "list", "Guests")
		if !ok { // what is in it scrolls it too
			ref, _ = a.ref(a.seen, "button", "Guest 4")
		}
		var err error
		if a.seen, err = a.scroll(ctx, ref); err != nil {
			return err
		}
		return a.click(ctx, "button", "Guest 203")
	}), words("guest", "203")},
	{"open shadow root", on("shadow", func(ctx context.Context, a *agent) error {
		return first(
			func() error { return a.write(ctx, "Nickname", "ann") },
			func() error { return a.click(ctx, "button", "Save nickname") },
		)
	}), words("nickname", "ann")},
	{"closed shadow root", on("closed", func(ctx context.Context, a *agent) error {
		return a.click(ctx, "button", "Play")
	}), words("played", "yes")},
	{"overlay", on("overlay", func(ctx context.Context, a *agent) error {
		// The agent learns that something is in the way, or has seen it, and removes it.
		return first(
			func() error { return unlessTool(a.click(ctx, "button", "Buy now")) },
			func() error { return a.click(ctx, "button", "Reject all") },
			func() error { return a.click(ctx, "button", "Buy now") },
		)
	}), words("bought", "yes")},
	{"stale reference", on("stale", func(ctx context.Context, a *agent) error {
		if _, err := a.read(ctx); err != nil {
			return err
		}
		if err := a.turnList(ctx); err != nil {
			return err
		}
		// The reference is that of the list before it was made anew.
		if err := a.click(ctx, "button", "Buy banana"); !errors.Is(err, errTool) {
			return err
		}
		a.seen = ""
		return a.click(ctx, "button", "Buy banana")
	}), words("bought", "banana")},
	{"page that is late", on("late", func(ctx context.Context, a *agent) error {
		seen, err := a.wait(ctx, "Your report is ready")
		if err != nil {
			return err
		}
		a.seen = seen
		return a.click(ctx, "button", "Open report")
	}), words("opened", "yes")},
	{"slow navigation", on("link", func(ctx context.Context, a *agent) error {
		if err := a.clickAndLook(ctx, "link", "Slow way"); err != nil {
			return err
		}
		if _, ok := a.ref(a.seen, "button", "Finish"); !ok {
			seen, err := a.wait(ctx, "The end")
			if err != nil {
				return err
			}
			a.seen = seen
		}
		return a.click(ctx, "button", "Finish")
	}), words("end", "reached")},
	{"page without navigation", on("single", func(ctx context.Context, a *agent) error {
		if err := a.clickAndLook(ctx, "button", "Show basket"); err != nil {
			return err
		}
		if _, ok := a.ref(a.seen, "button", "Pay now"); !ok {
			return a.click(ctx, "button", "Pay now")
		}
		return a.click(ctx, "button", "Pay now")
	}), words("paid", "yes")},
	{"page that spins for ever", on("spin", func(ctx context.Context, a *agent) error {
		// What the click says is not the point: the agent does the rest in another tab.
		_ = a.click(ctx, "button", "Calculate")
		_, _ = a.read(ctx)
		a.seen = ""
		return first(
			func() error { return a.tab(ctx, a.site.url(a.run, "end")) },
			func() error { return a.click(ctx, "button", "Finish") },
		)
	}), words("spun", "yes", "end", "reached")},
	{"page of 5 MB", on("big", func(ctx context.Context, a *agent) error {
		return a.named(ctx, "button", "Order 9871")
	}), words("ordered", "9871")},
	{"table of 60 rows", on("table", func(ctx context.Context, a *agent) error {
		code, err := a.code(ctx)
		if err != nil {
			return err
		}
		return first(
			func() error { return a.write(ctx, "Code of thing 41", code) },
			func() error { return a.click(ctx, "button", "Send code") },
		)
	}), words("code", "CODE")},
	{"dropped socket", on("login", func(ctx context.Context, a *agent) error {
		if _, err := a.find(ctx, "textbox", "User name"); err != nil {
			return err
		}
		a.cut()
		fill := func() error {
			return a.fillIn(ctx, field{role: "textbox", name: "User name", value: "ann"}, field{role: "textbox", name: "Password", value: "secret"})
		}
		if err := fill(); err != nil { // once more, from the start
			if err := a.goTo(ctx, "login"); err != nil {
				return err
			}
			a.seen = ""
			if err := fill(); err != nil {
				return err
			}
		}
		return a.click(ctx, "button", "Sign in")
	}), words("user", "ann", "password", "secret")},
	{"request that failed", on("network", func(ctx context.Context, a *agent) error {
		text, err := a.failures(ctx)
		if err != nil {
			return err
		}
		order, ok := match(text, `order=(K\d{5})`)
		if !ok {
			return fmt.Errorf("no failed request in %q", shorten(text, 300))
		}
		return first(
			func() error { return a.write(ctx, "Failed order", order) },
			func() error { return a.click(ctx, "button", "Report") },
		)
	}), words("order", "CODE")},
	{"error in the console", on("console", func(ctx context.Context, a *agent) error {
		text, err := a.errors(ctx)
		if err != nil {
			return err
		}
		code, ok := match(text, `cart failed with (K\d{5})`)
		if !ok {
			return fmt.Errorf("no error in %q", shorten(text, 300))
		}
		return first(
			func() error { return a.write(ctx, "Error code", code) },
			func() error { return a.click(ctx, "button", "Report") },
		)
	}), words("code", "CODE")},
}

// on is a task that begins on a page.
func on(page string, do func(ctx context.Context, a *agent) error) func(ctx context.Context, a *agent) error {
	return func(ctx context.Context, a *agent) error {
		if err := a.goTo(ctx, page); err != nil {
			return err
		}
		return do(ctx, a)
	}
}

// first does steps until one fails.
func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// unlessTool is an error that is no tool's own word.
func unlessTool(err error) error {
	if errors.Is(err, errTool) {
		return nil
	}
	return err
}

// words are what a page is to say: keys and values.
func words(list ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(list); i += 2 {
		m[list[i]] = list[i+1]
	}
	return m
}

var codePattern = regexp.MustCompile(`\bK\d{5}\b`)

// code is the run's word, as it stands in what was read, or else in a new look.
func (a *agent) code(ctx context.Context) (string, error) {
	if code := codePattern.FindString(a.seen); code != "" {
		return code, nil
	}
	text, err := a.text(ctx)
	if err != nil {
		return "", err
	}
	if code := codePattern.FindString(text); code != "" {
		return code, nil
	}
	return "", fmt.Errorf("no code in %q", shorten(text, 300))
}
