package ui_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

const patience = 20 * time.Second

// payload is what a page would write to run in ours.
const payload = `<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>"'&{{`

// real is a real node on the shared browser, and the page in another tab of it.
type real struct {
	*screen
	*served
	node  *node.Node
	site  *chromiumtest.Site
	proxy *chromiumtest.FaultProxy
	ctx   context.Context
}

func realNode(t *testing.T) *real {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	chrome := chromiumtest.Shared(t)
	node, err := node.Start(ctx, node.Config{StateDir: t.TempDir(), AllowChaos: true, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := node.Stop(ctx); err != nil {
			t.Errorf("stop the node: %v", err)
		}
	})
	r := &real{node: node, site: chromiumtest.Serve(t), proxy: chromiumtest.Proxy(t, chrome.Addr()), ctx: ctx, served: serve(t, node)}
	r.screen = open(t, 1280, 800, "light", r.url+"/ui/")
	return r
}

func (r *real) start(id messages.TaskID, change func(*messages.TaskSpec)) {
	r.screen.t.Helper()
	u, err := messages.ParseCDPURL(r.proxy.URL(chromiumtest.Shared(r.screen.t).WS()))
	if err != nil {
		r.screen.t.Fatal(err)
	}
	spec := messages.TaskSpec{CDPURL: u, Scope: messages.ScopeOwn}
	if change != nil {
		change(&spec)
	}
	if _, _, err := r.node.GetOrStart(r.ctx, id, spec); err != nil {
		r.screen.t.Fatal(err)
	}
}

// run runs a script in the task's page, from a timer, so that it may ask.
func (r *real) run(id messages.TaskID, script string) {
	r.screen.t.Helper()
	params := fmt.Sprintf(`{"expression":%q}`, "void setTimeout(() => { "+script+" }, 10)")
	if _, err := r.node.CDP(r.ctx, id, messages.CDPRequest{Method: "Runtime.evaluate", Params: []byte(params)}); err != nil {
		r.screen.t.Fatal(err)
	}
}

func (r *real) navigate(id messages.TaskID, path string) {
	r.screen.t.Helper()
	if _, err := r.node.Navigate(r.ctx, id, messages.NavigateRequest{URL: r.site.URL(path)}); err != nil {
		r.screen.t.Fatal(err)
	}
}

// TestStory is an operator's day, on a real node and a real browser, with the
// keyboard alone where something is to be done.
func TestStory(t *testing.T) {
	r := realNode(t)
	r.site.Set("/shop", `<title>`+payload+`</title><body><p id=got></p><iframe src="http://b.test/pay"></iframe>`)
	r.site.Set("/pay", `<title>Pay</title><p>pay`)
	r.start("shop:1", func(s *messages.TaskSpec) { s.Labels = map[string]string{"team": "payments"} })
	r.start("other", nil)
	r.navigate("shop:1", "http://a.test/shop")

	// A wrong token is refused in words, the right one lets in.
	r.until("the login", `document.activeElement.id === "token"`)
	r.types("wrong")
	r.key("Enter")
	r.until("the refusal", `document.querySelector("#login-error").innerText.includes("not good for this node")`)
	if r.value(`document.activeElement.id`) != "token" {
		t.Error("the focus is not where one types the next")
	}
	r.Eval(r.Session, `void (document.querySelector("#token").value = "")`)
	r.types(r.admin.Reveal())
	r.key("Enter")
	r.until("both tasks", `document.querySelectorAll(".task").length === 2`)
	r.until("live", `document.querySelector("#link").innerText === "Live"`)
	if got := r.value(`localStorage.length + " " + sessionStorage.length + " " + document.cookie`); got != "0 1 " {
		t.Errorf("what is kept: %q", got)
	}

	// To the task by keyboard: the list is one stop, arrows move in it.
	r.Eval(r.Session, `document.querySelector("[role=listbox]").focus()`)
	r.key("End", "Enter")
	r.until("the task", `document.querySelector(".task-name")?.innerText === "shop:1"`)
	r.until("its actors", `[..."anchor browser dialog frame".split(" ")].every((n) => [...document.querySelectorAll(".task-view .actor-name")].some((a) => a.innerText === n))`)
	r.until("its sessions, with what they serve", `[...document.querySelectorAll(".task-view .cell-name")].filter((a) => a.innerText.startsWith("session")).length === 2`)
	r.until("its frames", `document.querySelectorAll("[aria-label^=Frames] [role=treeitem]").length === 2`)
	r.until("its page, as text", `document.querySelector(".page .title").innerText === `+fmt.Sprintf("%q", strings.ReplaceAll(payload, "\n", ""))+``)

	// The tree by keyboard.
	r.Eval(r.Session, `document.querySelector(".task-view [role=treegrid] [role=row][tabindex='0']").focus()`)
	r.key("ArrowDown", "ArrowLeft")
	r.until("the supervisor shut", `document.activeElement.getAttribute("aria-expanded") === "false"`)
	r.key("ArrowRight", "ArrowRight")
	r.until("inside it", `document.activeElement.getAttribute("aria-level") === "3"`)

	// A question comes, hostile, from a frame. It is text.
	r.run("shop:1", `document.getElementById("got").textContent = "got " + prompt(`+fmt.Sprintf("%q", payload)+`, "0000")`)
	r.until("the dialog", `document.querySelector(".dialog .message").innerText === `+fmt.Sprintf("%q", payload))
	r.until("the title's count", `document.title.startsWith("(1) ")`)
	r.until("that it is said", `document.querySelector("#say").innerText.includes("New prompt on shop:1")`)
	r.Eval(r.Session, `document.querySelector(".asks").focus()`)
	r.key("Enter")
	r.until("the field, focused", `document.activeElement === document.querySelector(".dialog input") && document.activeElement.value === "0000"`)
	r.Eval(r.Session, `document.activeElement.select()`)
	r.types("42")

	// The primary link is lost meanwhile: it shows, and costs no letter.
	if _, err := r.node.Kill(r.ctx, "shop:1", messages.LinksPrimary); err != nil {
		t.Fatal(err)
	}
	r.until("the reconnect, counted", `document.querySelector(".facts dd").innerText === "1"`)
	r.until("the restart, in the tree", `[...document.querySelectorAll(".task-view .tree-row")].some((n) => n.innerText.startsWith("browser") && n.children[2].innerText === "1")`)
	r.until("the event", `document.querySelector(".log").innerText.includes("reconnected")`)
	r.types("43")
	if got := r.value(`document.activeElement.value`); got != "4243" {
		t.Errorf("the answer being typed is %q", got)
	}
	r.key("Enter")
	r.until("the outcome", `document.querySelector(".dialog .outcome").innerText === "You answered: accepted."`)
	if got := r.pageText("shop:1"); got != "got 4243" {
		t.Errorf("the page has %q", got)
	}

	// Another client is faster.
	r.run("shop:1", `confirm("Really?")`)
	r.until("the second dialog", `[...document.querySelectorAll(".dialog .message")].some((m) => m.innerText === "Really?")`)
	if _, err := r.node.Respond(r.ctx, "shop:1", messages.DialogAnswer{Action: "dismiss"}); err != nil {
		t.Fatal(err)
	}
	r.until("who answered", `[...document.querySelectorAll(".dialog .outcome")].at(-1).innerText.includes("answered by a client (dismiss)")`)

	// Its renderer crashes: the page is got back, after a question.
	if _, err := r.node.CDP(r.ctx, "shop:1", messages.CDPRequest{Method: "Page.crash"}); messages.CodeOf(err) != messages.CodePageCrashed {
		t.Fatalf("Page.crash: %v", err)
	}
	r.until("the way out", `[...document.querySelectorAll(".page button")].map((b) => b.innerText).join() === "Reload,Replace,Close"`)
	r.Eval(r.Session, `document.querySelector(".page button").focus()`)
	r.key("Enter")
	r.until("what it costs", `document.querySelector("#confirm-text").innerText.includes("What the page held is lost.")`)
	r.key("Tab", "Enter")
	r.until("the page, well", `document.querySelector(".page .pill").innerText === "ok" && document.querySelector(".toast").innerText === "reload: done."`)

	// Stop it: asked first, Escape says no.
	r.Eval(r.Session, `[...document.querySelectorAll(".task-head button")].find((b) => b.innerText === "Stop task").focus()`)
	r.key("Enter")
	r.until("the question", `document.querySelector("#confirm").open && document.activeElement.id === "confirm-no"`)
	r.key("Escape")
	r.until("no", `!document.querySelector("#confirm").open && document.activeElement.innerText === "Stop task"`)
	r.key("Enter")
	r.until("the question again", `document.querySelector("#confirm").open`)
	r.key("Tab", "Enter")
	r.until("its end", `document.querySelectorAll(".task").length === 1 && document.querySelector(".task-view .none").innerText.includes("stopped")`)

	if got := r.value(`window.pwned`); got != "undefined" {
		t.Error("a page's text has run in ours")
	}
	r.clean(r.url, "401")
}

// pageText is what the shop got.
func (r *real) pageText(id messages.TaskID) string {
	r.screen.t.Helper()
	res, err := r.node.CDP(r.ctx, id, messages.CDPRequest{Method: "Runtime.evaluate", Params: []byte(`{"expression":"document.getElementById('got').textContent"}`)})
	if err != nil {
		r.screen.t.Fatal(err)
	}
	return chromiumtest.Field([]byte(chromiumtest.Field(res.Result, "result")), "value")
}
