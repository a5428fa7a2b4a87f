package ui_test

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdfast/messages"
)

//go:embed testdata/audit.js
var audit string

// TestEveryView walks through every view in both sizes and colours, and has each
// judged for what a machine can judge. With -shots it leaves pictures of them.
func TestEveryView(t *testing.T) {
	g := newGallery()
	s := serve(t, g)
	page := open(t, 1280, 800, "light", s.url+"/ui/")
	show := func(name string) {
		t.Helper()
		for _, size := range []struct {
			name string
			w, h int
		}{{"wide", 1280, 800}, {"phone", 390, 844}} {
			for _, scheme := range []string{"light", "dark"} {
				if *shots == "" && (size.w > 500) != (scheme == "light") {
					continue // judged are each size and each colour, once; pictures are of all
				}
				page.size(size.w, size.h, scheme)
				page.painted()
				if wrong := page.value(audit); wrong != "[]" {
					t.Errorf("%s, %s, %s: %s", name, size.name, scheme, wrong)
				}
				page.shot(fmt.Sprintf("%s-%s-%s", name, size.name, scheme))
			}
		}
		page.size(1280, 800, "light")
	}
	page.until("the login", `document.activeElement.id === "token"`)
	show("login")
	page.types(s.admin.Reveal())
	page.key("Enter")
	page.Eval(page.Session, `document.body.append(Object.assign(document.createElement("button"), { id: "bad", style: "color: #999; background: #aaa" }), Object.assign(document.createElement("p"), { id: "bad", textContent: "grey", style: "color: #999; background: #aaa; width: 3000px" }))`)
	if wrong := page.value(audit); !strings.Contains(wrong, "contrast 1.2") || !strings.Contains(wrong, "no name: button") || !strings.Contains(wrong, "id bad twice") || !strings.Contains(wrong, "wider") {
		t.Errorf("the judge says yes to everything: %s", wrong)
	}
	page.Eval(page.Session, `document.querySelectorAll("#bad").forEach((n) => n.remove())`)
	page.until("an empty node", `document.querySelector(".overview .none.big").innerText.includes("holdfast task start")`)
	page.until("the root of the tree", `document.querySelector(".overview [role=row][tabindex='0']")`)
	show("empty")
	g.many(200)
	g.put("checkout-095", wedged)
	g.put("checkout-000", func(s *messages.Snapshot) {
		s.Version = 14
		s.Labels = map[string]string{"team": "payments", "env": "staging"}
		s.PageState, s.Pages[0].PageState = messages.PageDialog, messages.PageDialog
		s.PendingDialogs = []messages.Dialog{dialog("d-4", "prompt", "Your PIN, please?", "0000", 12*time.Second)}
		s.Connection.Reconnects, s.Connection.LastGapMS = 3, 41
	})
	g.put("support-004", func(s *messages.Snapshot) {
		s.PendingDialogs = []messages.Dialog{dialog("d-1", "beforeunload", "Changes you made may not be saved.", "", 271*time.Second)}
	})
	g.put("invoice-011", func(s *messages.Snapshot) {
		s.PendingDialogs = []messages.Dialog{dialog("d-9", "confirm", "Send 14 invoices to 14 customers now? This can’t be undone.", "", 65*time.Second)}
	})
	g.put("crawl-002", func(s *messages.Snapshot) {
		s.Blockers = []messages.Blocker{
			{ID: "b-1", Type: messages.BlockerHuman, Message: "The shop asks for the code that it has sent to your phone.", OpenedAt: messages.SecondsOf(time.Now().Add(-9 * time.Second)), ExpiresAt: messages.SecondsOf(time.Now().Add(291 * time.Second))},
			{ID: "b-2", Type: messages.BlockerPermission, Message: "the page asks for geolocation", URL: "https://shop.example/near", Origin: "https://shop.example", Permission: "geolocation", TargetID: "T1", OpenedAt: messages.SecondsOf(time.Now().Add(-4 * time.Second)), ExpiresAt: messages.SecondsOf(time.Now().Add(296 * time.Second))},
			{ID: "b-3", Type: messages.BlockerPDF, Message: "the browser shows a PDF", TargetID: "T1"},
		}
	})
	page.until("the tasks", `document.querySelectorAll(".task").length > 5 && document.querySelectorAll(".dialog").length === 5`)
	page.until("the tree", `document.querySelectorAll(".tree-row").length > 100`)
	if got := page.value(`[...document.querySelectorAll(".task")].sort((a, b) => a.getAttribute("aria-posinset") - b.getAttribute("aria-posinset")).slice(0, 4).map((n) => n.querySelector(".pill").innerText).join()`); !strings.HasPrefix(got, "dialog,dialog,dialog,") {
		t.Errorf("the list does not begin with what waits for a person: %s", got)
	}
	show("node")
	lost := page.value(`[...document.querySelectorAll(".trouble")].find((n) => n.innerText.includes("lost")).querySelector("a").innerText`)
	page.to("#/task/" + lost)
	page.until("what is left of a lost task", `document.querySelector(".task-view").innerText.includes("https://shop.example/checkout/payment") && document.querySelectorAll(".task-view .log p").length > 0 && !document.querySelector(".task-view").innerText.includes("Stop task")`)
	show("lost-task")
	page.Eval(page.Session, `[...document.querySelectorAll(".task-head button")].find((b) => b.innerText === "Start again").click()`)
	page.until("that it has started again", `document.querySelector(".toast").innerText.includes("has started again")`)
	page.to("#/task/checkout-000")
	page.until("the task's actors", `document.querySelectorAll(".task-view .tree-row").length > 6`)
	if got := page.value(`document.querySelector(".task-head .pill").innerText + " " + document.querySelector(".task-head .pill").dataset.tone`); got != "dialog warn" {
		t.Errorf("a task whose page waits for an answer is %s", got)
	}
	if got := page.value(`document.querySelector(".log").innerText`); strings.Contains(got, "earlier") || !strings.Contains(got, "title “Checkout – Example Shop”") || !strings.Contains(got, "×2") {
		t.Errorf("the events: %s", got)
	}
	page.until("its clients", `document.querySelectorAll(".client").length === 2`)
	if got := page.value(`[...document.querySelectorAll(".client")].map((n) => n.innerText).join()`); !strings.Contains(got, "dialogs hidden") || !strings.Contains(got, "18,211 commands") || strings.Count(got, "does not read") != 1 {
		t.Errorf("the clients: %s", got)
	}
	show("task")
	page.size(390, 844, "light")
	page.until("the question on the task's own screen", `document.querySelector(".task-view .dialog").innerText.includes("Your PIN, please?") && [...document.querySelectorAll(".task-view .dialog")].filter((n) => n.checkVisibility()).length === 1`)
	page.size(1280, 800, "light")
	page.until("the questions in the rail again", `document.querySelectorAll(".rail .dialog").length === 5`)
	page.to("#/task/checkout-095")
	page.until("the wedged task", `document.querySelector(".task-view .page button")`)
	if got := page.value(`document.querySelector(".task-view").innerText`); !strings.Contains(got, "Dialogs\nbridge") || strings.Count(got, "no bridge") != 1 {
		t.Errorf("how its dialogs come is not said: %s", got)
	}
	show("wedged")
	for _, width := range []int{820, 1024, 1920} {
		page.size(width, 900, "light")
		page.painted()
		if wrong := page.value(audit); wrong != "[]" {
			t.Errorf("at %d: %s", width, wrong)
		}
		page.shot(fmt.Sprintf("wedged-%d", width))
	}
	page.size(1280, 800, "light")
	page.tabsThrough("wedged task")
	g.put("login-003", func(s *messages.Snapshot) {
		s.PendingDialogs = []messages.Dialog{dialog("d-1", "confirm", strings.Repeat("By this you agree to a long text. ", 60)+"THE END", "", time.Second)}
	})
	card := `[...document.querySelectorAll(".dialog")].find((n) => n.innerText.includes("login-003"))`
	page.until("the long question, cut", card+`.querySelector(".whole").checkVisibility()`)
	page.Eval(page.Session, `[...`+card+`.querySelectorAll("button")].find((b) => b.innerText === "Accept").click()`)
	page.until("that it is to be read first", card+`.innerText.includes("Show the whole of it first") && document.activeElement.classList.contains("whole")`)
	page.key("Enter")
	page.until("the whole question", `!`+card+`.querySelector(".whole").checkVisibility() && `+card+`.querySelector(".message").scrollHeight <= `+card+`.querySelector(".message").clientHeight + 1`)
	page.Eval(page.Session, `[...`+card+`.querySelectorAll("button")].find((b) => b.innerText === "Accept").click()`)
	page.until("the answer, given", card+`.dataset.state !== "open"`)
	g.put("login-003", func(s *messages.Snapshot) { s.PendingDialogs = nil })
	page.to("#/task/checkout-000")
	page.until("its clients again", `document.querySelectorAll(".client").length === 2`)
	page.Eval(page.Session, `document.querySelector(".client button").focus()`)
	page.key("Enter")
	page.until("whether it is meant", `document.querySelector("#confirm").open && document.querySelector("#confirm").innerText.includes("Disconnect playwright?")`)
	page.key("Tab", "Enter")
	page.until("one client less", `document.querySelectorAll(".client").length === 1 && document.querySelector(".toast").innerText === "playwright is disconnected."`)
	page.to("#/dialogs")
	show("dialogs")
	asked := `[...document.querySelectorAll(".dialog")].find((n) => n.innerText.includes("the code that it has sent"))`
	page.Eval(page.Session, asked+`.querySelector("input").value = "4711"; [...`+asked+`.querySelectorAll("button")].find((b) => b.innerText === "Done").click()`)
	page.until("a person's answer to an agent", asked+`.innerText.includes("You answered: accepted")`)
	if got := g.said(); got != (messages.BlockerAnswer{BlockerID: "b-1", Action: messages.ActionAccept, By: messages.AnswererHuman, Text: "4711"}) {
		t.Errorf("the node is told %+v", got)
	}
	page.to("#/")
	show("tasks")
	page.Eval(page.Session, `document.querySelector("#theme").focus()`)
	page.key("Enter", "Enter")
	if got := page.value(`document.documentElement.dataset.theme + getComputedStyle(document.body).backgroundColor`); got != "darkrgb(13, 19, 25)" {
		t.Errorf("dark by hand: %s", got)
	}
	page.Navigate(s.url + "/ui/")
	page.until("signed in still, and dark", `document.documentElement.dataset.theme === "dark" && document.querySelectorAll(".task").length > 5`)
	page.Eval(page.Session, `localStorage.clear()`)
	page.clean(s.url)
	// And should one of us ever forget: the browser refuses text as markup.
	if got := page.value(`(() => { try { document.createElement("div").innerHTML = "<b>"; return "taken"; } catch { return "refused"; } })()`); got != "refused" {
		t.Errorf("markup from text was %s", got)
	}
}

// tabsThrough walks the page with Tab: everything that can be used is met, in the
// order in which it is seen, and one always sees where one is.
func (s *screen) tabsThrough(what string) {
	s.t.Helper()
	s.Eval(s.Session, `void (document.activeElement.blur(), scrollTo(0, 0))`)
	var met []string
	for range 40 {
		s.key("Tab")
		at := s.value(`(() => {
			const n = document.activeElement;
			if (n === document.body) return "";
			const style = getComputedStyle(n);
			const shown = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
			return (shown ? "" : "unseen ") + (n.id || n.getAttribute("role") || n.className || n.innerText || n.tagName);
		})()`)
		if strings.HasPrefix(at, "unseen") {
			s.t.Errorf("%s: the focus is on %s, and nobody sees it", what, at)
		}
		if at == "" {
			break
		}
		met = append(met, at)
	}
	const want = "skip brand theme leave home INPUT chip chip chip listbox danger-quiet Release Reattach Reload danger-quiet Reattach Reload danger-quiet treeitem log row task-link Leave Stay task-link Accept Dismiss task-link INPUT Send Dismiss"
	got := strings.Join(met, " ")
	for _, name := range strings.Fields(want) {
		_, rest, found := strings.Cut(got, name)
		if !found {
			s.t.Fatalf("%s: %s does not come in its place; Tab meets %v", what, name, met)
		}
		got = rest
	}
}

func wedged(s *messages.Snapshot) {
	s.State, s.PageState, s.Pages[0].PageState = messages.StateWedged, messages.PageDialogUnreachable, messages.PageDialogUnreachable
	s.Pages = append(s.Pages, messages.Page{TargetID: "T2", SessionID: "77AA", URL: "https://shop.example/help", Title: "Help", PageState: messages.PageHung, Bridge: messages.BridgeUnavailable})
	s.Connection.Primary, s.Connection.Reconnects, s.Connection.LastGapMS = messages.LinkUp, 4, 312
	s.Connection.Bridge, s.Connection.BridgeBy = messages.BridgeOn, "debugger"
	s.RecentDialogs = []messages.ClosedDialog{{ID: "d-1", Type: "confirm", Message: "Leave the basket?", ClosedBy: messages.ClosedByLost, ClosedAt: messages.SecondsOf(time.Now())}}
	s.ConsoleErrors = []messages.ConsoleError{{TS: messages.SecondsOf(time.Now()), Level: "exception", Text: "TypeError: basket is undefined at https://shop.example/app.js:1:2231"}}
}

// TestTheNodeGoesAndComesBack: the page says so, keeps what it showed, and
// recovers by itself. The token came in the address and is not in it any more.
func TestTheNodeGoesAndComesBack(t *testing.T) {
	g := newGallery()
	g.put("acme:1", func(s *messages.Snapshot) {
		s.PendingDialogs = []messages.Dialog{dialog("d-1", "prompt", "Who?", "nobody", time.Second)}
	})
	g.put("secret", func(*messages.Snapshot) {})
	s := serve(t, g)
	tenant, err := s.admin.ForTenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	page := open(t, 1280, 800, "dark", s.url+"/ui/#code="+s.code(tenant)+"&task=acme%3A1")
	page.until("the tenant's task", `document.querySelector(".task-name")?.innerText === "acme:1" && document.querySelectorAll(".task").length === 1`)
	if got := page.value(`location.href + " " + history.length`); !strings.HasPrefix(got, s.url+"/ui/#/task/acme%3A1 ") {
		t.Errorf("the address is %s", got)
	}
	if got := page.value(`document.body.innerText`); strings.Contains(got, "secret") {
		t.Error("a tenant sees another's task")
	}
	page.to("#/task/secret")
	page.until("another's task, refused", `document.querySelector(".toast").innerText.includes("not good for this task") && document.querySelector(".overview")`)
	page.Eval(page.Session, `document.querySelector(".dialog input").focus()`)
	page.Eval(page.Session, `document.activeElement.select()`)
	page.types("some")
	s.down()
	page.until("that it is lost", `document.querySelector("#link").innerText.startsWith("Connection lost – retrying")`)
	if got := page.value(`document.querySelectorAll(".task").length + document.querySelector(".dialog input").value`); got != "1some" {
		t.Errorf("what was there: %s", got)
	}
	if got := page.value(`document.querySelector("#away").innerText + document.querySelector(".dialog .foot").innerText + document.querySelector(".dialog form button").getAttribute("aria-disabled")`); !strings.Contains(got, "The node is out of reach. What you see is of ") || !strings.Contains(got, "out of reachtrue") {
		t.Errorf("an old page says: %s", got)
	}
	page.shot("lost-wide-dark")
	page.types("body")
	g.put("acme:2", func(*messages.Snapshot) {})
	s.up(nil)
	page.until("that it is back", `document.querySelector("#link").innerText === "Live" && document.querySelectorAll(".task").length === 2`)
	if got := page.value(`document.activeElement.value`); got != "somebody" {
		t.Errorf("what was being typed: %s", got)
	}
	// Another node has taken the address: its token is another.
	s.down()
	s.admin = otherToken()
	s.up(nil)
	page.until("the login, with the reason", `document.querySelector("#login-error").innerText.includes("has been replaced") && !document.querySelector(".app:not([hidden])")`)
	if got := page.value(`sessionStorage.length + document.title`); got != "0Holdfast" {
		t.Errorf("left behind: %s", got)
	}
	page.clean(s.url, "net::ERR_", "403", "401")
}

// TestAThousandTasks stay smooth: most of them change all the time, and the main
// thread is never held for long.
func TestAThousandTasks(t *testing.T) {
	g := newGallery()
	g.many(1000)
	s := serve(t, g)
	page := open(t, 1280, 800, "light", s.url+"/ui/#code="+s.code(s.admin.Reveal()))
	page.until("all of them", `document.querySelector(".chip .number").innerText === "1,000"`)
	page.until("the tree, capped", `document.body.innerText.includes("200 of 1,000 supervisors")`)
	if rows := page.value(`document.querySelectorAll(".task").length`); len(rows) > 2 {
		t.Errorf("%s rows exist", rows)
	}
	page.Eval(page.Session, `void (window.frames60 = [], (function f(last) { requestAnimationFrame((now) => { frames60.push(now - last); f(now); }); })(performance.now()))`)
	page.Eval(page.Session, `void (window.tasks50 = 0, window.shift = 0, new PerformanceObserver((l) => { for (const e of l.getEntries()) shift += e.value; }).observe({ type: "layout-shift" }))`)
	page.Eval(page.Session, `document.querySelector("[role=listbox]").focus()`)
	for round := range 12 {
		for i, id := range g.order {
			if i%3 != round%3 {
				g.put(id, func(s *messages.Snapshot) { s.Connection.Reconnects++ })
			}
		}
		page.key("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown")
		page.Eval(page.Session, `new Promise((d) => setTimeout(d, 150))`)
	}
	page.key("End")
	page.until("the last", `document.querySelector(".task[data-cursor]").getAttribute("aria-posinset") === "1000"`)
	page.Eval(page.Session, `document.querySelector("input[type=search]").focus()`)
	page.types("-99")
	page.until("those that were looked for", `document.querySelectorAll(".task").length === 10 && [...document.querySelectorAll(".task")].every((n) => n.innerText.includes("-99"))`)
	t.Logf("longest task %s ms, frames %s, layout shift %s", page.value(`Math.round(tasks50)`),
		page.value(`frames60.sort((a, b) => a - b) && ["median " + Math.round(frames60[frames60.length >> 1]), "worst " + Math.round(frames60.at(-1))]`), page.value("shift.toFixed(4)"))
	// Generous, for a machine that does other things.
	if page.value(`tasks50 < 500`) != "true" {
		t.Errorf("the main thread was held for %s ms", page.value("tasks50"))
	}
	if page.value(`shift < 0.02`) != "true" {
		t.Errorf("the layout has jumped: %s", page.value("shift"))
	}
	page.clean(s.url)
}

// TestARecoveringTaskSaysHowFarItIs, in the list and in its own view.
func TestARecoveringTaskSaysHowFarItIs(t *testing.T) {
	g := newGallery()
	g.put("away", func(s *messages.Snapshot) {
		s.State, s.Connection.Primary = messages.StateRecovering, messages.LinkBackoff
		s.Connection.RecoveringSince, s.Connection.Attempt = messages.SecondsOf(time.Now().Add(-12*time.Second)), 7
		s.Connection.GiveUpAfterS, s.Connection.LastError = 120, "connection refused: is the browser running?"
	})
	s := serve(t, g)
	page := open(t, 1280, 800, "dark", s.url+"/ui/#code="+s.code(s.admin.Reveal())+"&task=away")
	const says = `/^recovering, 1\ds of 2m, attempt 7: connection refused$/.test(%s)`
	page.until("the list", fmt.Sprintf(says, `document.querySelector(".task .where")?.innerText`))
	page.until("the task's view", fmt.Sprintf(says, `document.querySelector(".task-head .reason")?.innerText`))
	page.clean(s.url)
}
