package acceptance_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/internal/chromiumtest"
	"holdfast/internal/gate"
	clients "holdfast/internal/gateway"
	"holdfast/internal/gateway/view"
	"holdfast/internal/token"
	"holdfast/messages"
)

// cdpClients serves the rig's node to CDP clients, and returns the address of a task's endpoint.
func (r *rig) cdpClients() func(task string) string {
	r.Helper()
	admin := token.Generate()
	entrance, err := gate.New(gate.Config{Token: admin})
	if err != nil {
		r.Fatal(err)
	}
	g := clients.New(clients.Config{Node: r.node})
	handler, err := api.New(api.Config{Node: r.node, Gate: entrance, Gateway: g})
	if err != nil {
		r.Fatal(err)
	}
	server := httptest.NewServer(handler)
	r.Cleanup(server.Close)
	r.Cleanup(func() { g.Drain(context.Background()) })
	r.Cleanup(handler.CloseStreams)
	return func(task string) string {
		return strings.Replace(server.URL, "http", "ws", 1) + "/cdp/" + task + "?token=" + admin.Reveal()
	}
}

// attached is what Target.attachedToTarget tells.
type attached struct {
	SessionID  string
	TargetInfo struct {
		TargetID, Type, OpenerID string
	}
}

func decoded[T any](t *testing.T, raw json.RawMessage) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

type targetParams struct {
	TargetID string `json:"targetId"`
	Flatten  bool   `json:"flatten,omitempty"`
}

// The row of a first client: two tasks of one browser, and a client of each, that does what
// Playwright does.
func TestR1_AClientDrivesItsTaskAlone(t *testing.T) {
	r := setup(t)
	r.task("one")
	r.task("two")
	to := r.cdpClients()
	one, two := chromiumtest.Dial(t, to("one")), chromiumtest.Dial(t, to("two"))
	auto := map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}
	for _, c := range []*chromiumtest.Raw{one, two} {
		c.Must("", "Target.setAutoAttach", auto)
		c.Must("", "Target.setDiscoverTargets", map[string]any{"discover": true, "filter": []struct{}{{}}})
		c.Must("", "Browser.setDownloadBehavior", map[string]any{"behavior": "deny"})
		if a := decoded[attached](t, c.Next("Target.attachedToTarget").Params); a.TargetInfo.Type != "page" {
			t.Fatalf("the task's first page is %+v", a)
		}
	}
	page := decoded[targetParams](t, one.Must("", "Target.createTarget", map[string]any{"url": "about:blank"})).TargetID
	session := decoded[attached](t, one.NextWhere("the attach to the new page", func(e chromiumtest.Event) bool {
		return e.Method == "Target.attachedToTarget" && strings.Contains(string(e.Params), page)
	}).Params).SessionID
	one.Must(session, "Page.enable", nil)
	one.Must(session, "Runtime.runIfWaitingForDebugger", nil)
	one.Must(session, "Page.navigate", map[string]any{"url": r.site.URL("http://a.test/plain")})
	one.Next("Page.loadEventFired")
	if got := string(one.Eval(session, `6*7`)); got != "42" {
		t.Errorf("evaluate: %s", got)
	}
	// A popup is the task's, and the client is attached to it.
	one.Must(session, "Runtime.evaluate", map[string]any{"expression": `void window.open('about:blank')`, "userGesture": true})
	popup := decoded[attached](t, one.NextWhere("the attach to the popup", func(e chromiumtest.Event) bool {
		return e.Method == "Target.attachedToTarget" && strings.Contains(string(e.Params), `"openerId":"`+page)
	}).Params)
	if got := string(one.Eval(popup.SessionID, `String(!!opener)`)); got != `"true"` {
		t.Errorf("the popup: %s", got)
	}
	// The other task's client sees nothing of all that, and reaches none of it.
	for _, m := range []string{"Target.attachToTarget", "Target.getTargetInfo", "Target.closeTarget"} {
		_, err := two.Call("", m, targetParams{page, true})
		var cdp *chromiumtest.CDPError
		if !errors.As(err, &cdp) || cdp.Code != view.CodeParams {
			t.Errorf("%s of the other task's page: %v", m, err)
		}
	}
	if list := string(two.Must("", "Target.getTargets", map[string]any{"filter": []struct{}{{}}})); strings.Contains(list, page) || strings.Contains(list, popup.TargetInfo.TargetID) {
		t.Errorf("the other task's pages are listed: %s", list)
	}
	mentions := func(e chromiumtest.Event) bool {
		return strings.Contains(string(e.Params), page) || strings.Contains(string(e.Params), popup.TargetInfo.TargetID)
	}
	if two.HasSeen(mentions, 0) {
		t.Error("the other task's client is told of the pages")
	}
	// A client that is gone leaves the pages, and nothing else.
	one.Close()
	three := chromiumtest.Dial(t, to("one"))
	again := decoded[attached](t, three.Must("", "Target.attachToTarget", targetParams{page, true}))
	if got := string(three.Eval(again.SessionID, `6*7`)); got != "42" {
		t.Errorf("after the first client has gone: %s", got)
	}
}

// Who answers the dialogs of a client's pages is the client's to choose when it connects.
func TestR7_WhoAnswersAClientsDialogs(t *testing.T) {
	r := setup(t)
	k := r.task("one")
	to := r.cdpClients()
	page := string(k.snapshot().PageTargetID)
	// onPage is a client with a session of the task's page.
	onPage := func(mode string) (*chromiumtest.Raw, string) {
		c := chromiumtest.Dial(t, to("one")+"&dialogs="+mode)
		session := decoded[attached](t, c.Must("", "Target.attachToTarget", targetParams{page, true})).SessionID
		c.Must(session, "Page.enable", nil)
		return c, session
	}
	hidden, hiddenSession := onPage("holdfast")
	shown, shownSession := onPage("client")
	watching, watchingSession := onPage("observe")
	opening := func(e chromiumtest.Event) bool { return e.Method == "Page.javascriptDialogOpening" }
	accept := map[string]any{"accept": true, "promptText": "ann"}
	isShownNone := func(err error) bool {
		var cdp *chromiumtest.CDPError
		return errors.As(err, &cdp) && cdp.Message == "No dialog is showing"
	}

	// The agent answers, and the client's pending evaluate returns it.
	asked := hidden.Send(hiddenSession, "Runtime.evaluate", map[string]any{"expression": `prompt('name?')`})
	d := k.dialog()
	watching.NextWhere("the dialog", opening)
	shown.NextWhere("the dialog", opening)
	for c, session := range map[*chromiumtest.Raw]string{hidden: hiddenSession, watching: watchingSession} {
		if _, err := c.Call(session, "Page.handleJavaScriptDialog", accept); !isShownNone(err) {
			t.Errorf("an answer that is not the client's to give: %v", err)
		}
	}
	text := "bob"
	k.respond(messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d.ID, PromptText: &text})
	if raw, err := asked.Wait(patience); err != nil || !strings.Contains(string(raw), `"bob"`) {
		t.Errorf("the evaluate returns %s, %v", raw, err)
	}
	if hidden.HasSeen(opening, 0) {
		t.Error("a dialog that is hidden was told")
	}

	// The client answers, once.
	asked = hidden.Send(hiddenSession, "Runtime.evaluate", map[string]any{"expression": `prompt('name?')`})
	d = k.dialog()
	shown.NextWhere("the second dialog", opening)
	shown.Must(shownSession, "Page.handleJavaScriptDialog", accept)
	if raw, err := asked.Wait(patience); err != nil || !strings.Contains(string(raw), `"ann"`) {
		t.Errorf("the evaluate returns %s, %v", raw, err)
	}
	if by := k.closed(d.ID).ClosedBy; by != messages.ClosedByAgent {
		t.Errorf("the client's answer counts as %s", by)
	}
	if _, err := shown.Call(shownSession, "Page.handleJavaScriptDialog", accept); !isShownNone(err) {
		t.Errorf("a second answer: %v", err)
	}
}

// methodsOf are the methods of the browser, as it describes them itself, and those of the
// pinned protocol, some of which it does not describe.
func methodsOf(t *testing.T, b *chromiumtest.Browser) map[string]bool {
	t.Helper()
	pinned, err := os.ReadFile("../rawcdp/methods.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, m := range strings.Fields(string(pinned)) {
		all[m] = true
	}
	res, err := http.Get(b.HTTP() + "/json/protocol")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var protocol struct {
		Domains []struct {
			Domain   string
			Commands []struct{ Name string }
		}
	}
	if err := json.NewDecoder(res.Body).Decode(&protocol); err != nil {
		t.Fatal(err)
	}
	for _, d := range protocol.Domains {
		for _, c := range d.Commands {
			all[d.Domain+"."+c.Name] = true
		}
	}
	http.DefaultClient.CloseIdleConnections()
	return all
}

// ending are the methods that a test does not try out.
var ending = map[string]bool{"Browser.close": true, "Browser.crash": true, "Browser.crashGpuProcess": true, "Target.disposeBrowserContext": true}

// TestR3_TheTableHasEveryMethodOfTheBrowser asks a real one, on a browser session as a
// client of the gateway has it, which methods it has.
func TestR3_TheTableHasEveryMethodOfTheBrowser(t *testing.T) {
	b := chromiumtest.Launch(t)
	c := chromiumtest.Dial(t, b.WS())
	session := decoded[attached](t, c.Must("", "Target.attachToBrowserTarget", nil)).SessionID
	for m := range methodsOf(t, b) {
		if ending[m] {
			if view.Of(m) == "" {
				t.Errorf("%s is not in the table", m)
			}
			continue
		}
		_, err := c.Call(session, m, nil)
		var cdp *chromiumtest.CDPError
		isThere := !errors.As(err, &cdp) || cdp.Code != view.CodeNoMethod
		if isThere && view.Of(m) == "" {
			t.Errorf("the browser has %s, and internal/gateway/view/methods.txt does not", m)
		}
		if !isThere && view.Of(m) != "" {
			t.Errorf("internal/gateway/view/methods.txt has %s, and the browser does not", m)
		}
	}
}

// Clients are a party of a page: they leave it before it is freed of a dialog or closed with one,
// and come back. With a session of theirs there the browser would end.
func TestC15_C19_ClientsLeaveAPageThatIsFreed(t *testing.T) {
	t.Parallel()
	r := alone(t)
	k := r.task("freed", scoped(messages.ScopeOwn))
	k.goTo("http://a.test/plain")
	to := r.cdpClients()
	c := chromiumtest.Dial(t, to("freed"))
	page := string(k.snapshot().PageTargetID)
	session := decoded[attached](t, c.Must("", "Target.attachToTarget", targetParams{page, true})).SessionID
	c.Must(session, "Page.enable", nil)
	c.Must(session, "Runtime.enable", nil)
	c.Must(session, "Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true})
	c.Must(session, "Emulation.setUserAgentOverride", map[string]any{"userAgent": "the client's own"})
	asks := func() {
		k.goTo("http://a.test/oopif-prompt")
		k.later(k.frame("/prompt").FrameID, "ask()")
		k.dialog()
	}
	asks()
	k.eval("", "document.getElementById('f').remove(); 0")
	k.await("a page that is freed", func(s *messages.Snapshot) bool {
		return len(s.PendingDialogs) == 0 && s.PageState == messages.PageOK && len(s.FrameTree.Children) == 0
	})
	if got := string(c.Eval(session, `navigator.userAgent`)); got != `"the client's own"` {
		t.Errorf("on the client's session: %s", got)
	}
	asks()
	c.Must("", "Target.createTarget", map[string]any{"url": "about:blank"})
	c.Must("", "Target.closeTarget", map[string]any{"targetId": page})
	c.NextWhere("the end of the client's session", func(e chromiumtest.Event) bool {
		return e.Method == "Target.detachedFromTarget" && strings.Contains(string(e.Params), session)
	})
	c.Must("", "Browser.getVersion", nil)
	if s := k.snapshot(); s.Connection.Reconnects > 0 {
		t.Errorf("the browser has been lost: %+v", s.Connection)
	}
}

// TestC15_C19_AClientThatIsGoneLeavesAPageThatIsFreed: its session waits at the page, since a dialog
// may be doomed, and would keep the page from being freed.
func TestC15_C19_AClientThatIsGoneLeavesAPageThatIsFreed(t *testing.T) {
	t.Parallel()
	r := alone(t)
	k := r.task("gone", scoped(messages.ScopeOwn))
	c := chromiumtest.Dial(t, r.cdpClients()("gone"))
	session := decoded[attached](t, c.Must("", "Target.attachToTarget", targetParams{string(k.snapshot().PageTargetID), true})).SessionID
	c.Must(session, "Page.enable", nil)
	k.goTo("http://a.test/oopif-prompt")
	k.later(k.frame("/prompt").FrameID, "ask()")
	k.dialog()
	k.eval("", "document.getElementById('f').remove(); 0")
	c.Close()
	k.await("a page that is freed", func(s *messages.Snapshot) bool {
		return len(s.PendingDialogs) == 0 && s.PageState == messages.PageOK && len(s.FrameTree.Children) == 0
	})
	k.eval("", "setTimeout(() => confirm('the next one'), 0); 0")
	k.dialog()
	if s := k.snapshot(); s.Connection.Reconnects > 0 {
		t.Errorf("the browser has been lost: %+v", s.Connection)
	}
}

// A client that dies while a dialog of its page is doomed stays there until the page is moved on.
func TestC58_AClientThatDiesAtADoomedPageNeverKillsTheBrowser(t *testing.T) {
	t.Parallel()
	d := doomedSetup(t, doomedPages["by a link"])
	c := chromiumtest.Dial(t, d.cdpClients()("doomed")+"&dialogs=client")
	session := decoded[attached](t, c.Must("", "Target.attachToTarget", targetParams{string(d.snapshot().PageTargetID), true})).SessionID
	c.Must(session, "Page.enable", nil)
	d.goes(t)
	c.Next("Page.javascriptDialogOpening")
	c.Close()
	d.moved()
	d.unharmed(t)
}

// What a client has stopped continues when it dies: a request that it intercepts, and a page in its
// debugger.
func TestADeadClientHoldsNothingBack(t *testing.T) {
	t.Parallel()
	r := alone(t)
	k := r.task("stopped")
	k.goTo("http://a.test/plain")
	to := r.cdpClients()
	join := func() (c *chromiumtest.Raw, session string) {
		c = chromiumtest.Dial(t, to("stopped"))
		return c, decoded[attached](t, c.Must("", "Target.attachToTarget", targetParams{string(k.snapshot().PageTargetID), true})).SessionID
	}

	c, session := join()
	c.Must(session, "Fetch.enable", nil)
	k.eval("", "window.answer = fetch('/plain').then(r => r.status); 0")
	c.Next("Fetch.requestPaused")
	c.Close()
	if got := k.evalPromise("", "window.answer"); got != "200" {
		t.Errorf("the request came to %s", got)
	}

	c, session = join()
	c.Must(session, "Debugger.enable", nil)
	k.eval("", "window.passed = new Promise(pass => setTimeout(() => { debugger; pass(1) })); 0")
	c.Next("Debugger.paused")
	c.Close()
	// A page that is paused answers, so what its script does behind the pause is awaited.
	if got := k.evalPromise("", "window.passed"); got != "1" {
		t.Errorf("the page's script came to %s", got)
	}
}

// A browser context of a client is disposed of page by page, with the client and by its command:
// disposed of at once under a frame's dialog it would end the browser.
func TestC15_AContextOfAClientEndsUnderAFramesDialog(t *testing.T) {
	t.Parallel()
	r := alone(t)
	k := r.task("context", scoped(messages.ScopeOwn))
	to := r.cdpClients()
	type made struct {
		Context string `json:"browserContextId"`
	}
	contexts := func(c *chromiumtest.Raw) string { return string(c.Must("", "Target.getBrowserContexts", nil)) }
	asks := func(c *chromiumtest.Raw) string {
		context := decoded[made](t, c.Must("", "Target.createBrowserContext", map[string]any{"disposeOnDetach": true})).Context
		c.Must("", "Target.createTarget", map[string]any{"url": r.site.URL("http://a.test/oopif-prompt-on-load"), "browserContextId": context})
		k.dialog()
		return context
	}
	isFree := func(s *messages.Snapshot) bool { return len(s.PendingDialogs) == 0 && len(s.Pages) == 1 }

	c := chromiumtest.Dial(t, to("context"))
	context := asks(c)
	c.Must("", "Target.disposeBrowserContext", made{context})
	k.await("an end by the client's command", isFree)

	context = asks(c)
	c.Close()
	k.await("an end with the client", isFree)
	other := chromiumtest.Dial(t, to("context"))
	if list := contexts(other); strings.Contains(list, context) {
		t.Errorf("contexts are left: %s", list)
	}
	if s := k.snapshot(); s.Connection.Reconnects > 0 {
		t.Errorf("the browser has been lost: %+v", s.Connection)
	}
}

// A file chooser that the task shows its agents ends once a client has given the files.
func TestX27_AClientsFilesEndTheFileChooser(t *testing.T) {
	t.Parallel()
	r := setup(t)
	k := r.task("chooser", asking)
	r.site.Set("/upload", `<input id=f type=file>`)
	k.goTo("http://a.test/upload")
	file := filepath.Join(t.TempDir(), "given.txt")
	if err := os.WriteFile(file, []byte("given"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := chromiumtest.Dial(t, r.cdpClients()("chooser"))
	session := decoded[attached](t, c.Must("", "Target.attachToTarget", targetParams{string(k.snapshot().PageTargetID), true})).SessionID
	c.Must(session, "Page.enable", nil)
	c.Must(session, "Page.setInterceptFileChooserDialog", map[string]any{"enabled": true})
	opens := func() (node int64) {
		c.Must(session, "Runtime.evaluate", map[string]any{"expression": `f.click()`, "userGesture": true})
		told := decoded[struct{ BackendNodeID int64 }](t, c.Next("Page.fileChooserOpened").Params)
		k.blocker(messages.BlockerFileChooser)
		return told.BackendNodeID
	}
	give := func(name string, input any) {
		c.Must(session, "DOM.setFileInputFiles", map[string]any{"files": []string{file}, name: input})
		k.unblocked()
	}
	give("backendNodeId", opens())
	opens()
	input := decoded[struct{ Result struct{ ObjectID string } }](t, c.Must(session, "Runtime.evaluate", map[string]any{"expression": "f"}))
	give("objectId", input.Result.ObjectID)
}
