package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// hands are how one server is used. Each method is the fewest calls of the server for what it
// says. What looks returns, or has with an action's answer, is a snapshot; other answers have none.
type hands interface {
	// command is the server's, on a browser at an address.
	command(address, dir string) *exec.Cmd
	// ready is before the clock starts: the server has its connection and a tab.
	ready(ctx context.Context) error

	look(ctx context.Context) (string, error)
	// text is a look that has the page's texts too.
	text(ctx context.Context) (string, error)
	// full is a look that leaves nothing out; "" where the server has no such thing.
	full(ctx context.Context) (string, error)
	// dateRole is what the server calls the role of a date field.
	dateRole() string
	// ref is what the server calls the element in a snapshot.
	ref(snapshot, role, name string) (string, bool)
	// open goes to an address, and returns a snapshot where the answer has one.
	open(ctx context.Context, url string) (snapshot string, err error)
	// act does a verb (click, hover, select, type, check) to an element; with looks the answer
	// has a snapshot, or a second call brings it.
	act(ctx context.Context, verb, ref, value string, looks bool) (snapshot string, err error)
	fill(ctx context.Context, fields []field) error
	press(ctx context.Context, key string, times int) error
	drag(ctx context.Context, from, to string) error
	upload(ctx context.Context, ref, file string) error
	// download clicks a link and returns what its file holds.
	download(ctx context.Context, ref, name string) (string, error)
	// scroll scrolls an element down by 6,000 pixels, and looks.
	scroll(ctx context.Context, ref string) (snapshot string, err error)
	// dialog answers the open dialog.
	dialog(ctx context.Context, accept bool, text string) error
	// wait waits for a text, and returns a snapshot where the answer has one.
	wait(ctx context.Context, text string) (snapshot string, err error)
	// named clicks an element that was never seen.
	named(ctx context.Context, role, name string) error
	login(ctx context.Context, url, user, password string) error
	tab(ctx context.Context, url string) error    // opens a second one
	turn(ctx context.Context, page string) error  // to the tab of a page
	failures(ctx context.Context) (string, error) // of the network
	errors(ctx context.Context) (string, error)   // of the console
}

type field struct{ ref, role, name, value string }

// agent does a task, with what it has read last.
type agent struct {
	hands
	site *site
	run  string
	dir  string
	cut  func()

	seen string
}

// find is what the server calls an element, in what was read, or else in a new look.
func (a *agent) find(ctx context.Context, role, name string) (string, error) {
	if ref, ok := a.ref(a.seen, role, name); ok {
		return ref, nil
	}
	seen, err := a.look(ctx)
	if err != nil {
		return "", err
	}
	a.seen = seen
	if ref, ok := a.ref(seen, role, name); ok {
		return ref, nil
	}
	// Some leave things out unless they are asked for all.
	if more, err := a.full(ctx); err != nil {
		return "", err
	} else if ref, ok := a.ref(more, role, name); ok {
		a.seen = more
		return ref, nil
	}
	return "", fmt.Errorf("no %s %q in the snapshot", role, name)
}

// read is the page's words, in a new look.
func (a *agent) read(ctx context.Context) (string, error) {
	seen, err := a.look(ctx)
	a.seen = seen
	return seen, err
}

func (a *agent) goTo(ctx context.Context, page string) error {
	seen, err := a.open(ctx, a.site.url(a.run, page))
	a.seen = seen
	return err
}

func (a *agent) do(ctx context.Context, verb, role, name, value string, looks bool) error {
	ref, err := a.find(ctx, role, name)
	if err != nil {
		return err
	}
	seen, err := a.act(ctx, verb, ref, value, looks)
	if seen != "" {
		a.seen = seen
	}
	return err
}

func (a *agent) click(ctx context.Context, role, name string) error {
	return a.do(ctx, "click", role, name, "", false)
}

// clickAndLook is for an agent that wants to see what comes of it.
func (a *agent) clickAndLook(ctx context.Context, role, name string) error {
	return a.do(ctx, "click", role, name, "", true)
}

// blocked is a click that opens a dialog: servers differ in whether they call that a failure.
func (a *agent) blocked(ctx context.Context, role, name string) error {
	err := a.click(ctx, role, name)
	if errors.Is(err, errTool) {
		return nil
	}
	return err
}

func (a *agent) fillIn(ctx context.Context, fields ...field) error {
	for i, f := range fields {
		ref, err := a.find(ctx, f.role, f.name)
		if err != nil {
			return err
		}
		fields[i].ref = ref
	}
	return a.fill(ctx, fields)
}

func (a *agent) write(ctx context.Context, name, text string) error {
	return a.fillIn(ctx, field{role: "textbox", name: name, value: text})
}

// answer answers a dialog. A server that has done so by itself has nothing to answer, which is no
// failure of the task.
func (a *agent) answer(ctx context.Context, accept bool, text string) error {
	return unlessTool(a.dialog(ctx, accept, text))
}

// file writes a file for an upload.
func (a *agent) file(name, text string) (string, error) {
	path := filepath.Join(a.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// give uploads a file by an element, whatever its role.
func (a *agent) give(ctx context.Context, name string) error {
	file, err := a.file("note.txt", "a short note")
	if err != nil {
		return err
	}
	ref, err := a.find(ctx, "button", name)
	if err != nil {
		return err
	}
	return a.upload(ctx, ref, file)
}

func (a *agent) move(ctx context.Context, from, to string) error {
	f, err := a.find(ctx, "button", from)
	if err != nil {
		return err
	}
	t, err := a.find(ctx, "button", to)
	if err != nil {
		return err
	}
	return a.drag(ctx, f, t)
}

// turnTo turns to the tab of a page.
func (a *agent) turnTo(ctx context.Context, page string) error {
	a.seen = ""
	return a.turn(ctx, page)
}

// turnList has the page make its list anew, and waits until it has.
func (a *agent) turnList(ctx context.Context) error {
	a.site.hear(a.run, words("turn", "yes"))
	for a.site.state(a.run)["turned"] == "" {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
