package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// wiretap stands between a node and a browser message by message, where
// chromiumtest.Proxy knows only bytes: it can put in a command of its own and
// cut the line at a given event, before the node has seen it.
type wiretap struct {
	t      *testing.T
	server *httptest.Server
	target string

	mu       sync.Mutex
	upstream *websocket.Conn   // the newest
	open     []*websocket.Conn // both halves of every connection
	cutAt    func(event []byte) bool
	cut      chan struct{} // closed when cutAt has hit
}

func tap(t *testing.T, b *chromiumtest.Browser) *wiretap {
	t.Helper()
	w := &wiretap{t: t, target: b.WS()}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(func() {
		w.mu.Lock()
		for _, c := range w.open {
			_ = c.CloseNow()
		}
		w.mu.Unlock()
		w.server.Close()
	})
	return w
}

func (w *wiretap) endpoint() messages.CDPURL {
	w.t.Helper()
	_, path, _ := strings.Cut(strings.TrimPrefix(w.target, "ws://"), "/")
	u, err := messages.ParseCDPURL("ws" + strings.TrimPrefix(w.server.URL, "http") + "/" + path)
	if err != nil {
		w.t.Fatal(err)
	}
	return u
}

// task starts a task through the tap; it is stopped while the tap still is
// there, so that its tab does not stay in a shared browser.
func (w *wiretap) task(r *rig, id messages.TaskID, change ...func(*messages.TaskSpec)) *task {
	w.t.Helper()
	k := r.task(id, append(change, func(s *messages.TaskSpec) { s.CDPURL = w.endpoint() })...)
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := r.node.StopTask(ctx, id); err != nil {
			w.t.Errorf("stop %s: %v", id, err)
		}
	})
	return k
}

func (w *wiretap) serve(out http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client, err := websocket.Accept(out, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return
	}
	defer client.CloseNow()
	upstream, _, err := websocket.Dial(ctx, w.target, &websocket.DialOptions{CompressionMode: websocket.CompressionDisabled}) //nolint:bodyclose // the library closes it
	if err != nil {
		return
	}
	defer upstream.CloseNow()
	client.SetReadLimit(-1)
	upstream.SetReadLimit(-1)
	w.mu.Lock()
	w.upstream = upstream
	w.open = append(w.open, client, upstream)
	w.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() {
		defer upstream.CloseNow()
		for {
			typ, b, err := client.Read(ctx)
			if err != nil || upstream.Write(ctx, typ, b) != nil {
				return
			}
		}
	})
	both.Go(func() {
		defer client.CloseNow()
		for {
			typ, b, err := upstream.Read(ctx)
			if err != nil || w.cuts(b) || client.Write(ctx, typ, b) != nil {
				return
			}
		}
	})
	both.Wait()
}

// cutOn arms the tap: the first event that match selects ends the connection
// and is not passed on.
func (w *wiretap) cutOn(match func(event []byte) bool) (cut <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cutAt, w.cut = match, make(chan struct{})
	return w.cut
}

func (w *wiretap) cuts(b []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cutAt == nil || !w.cutAt(b) {
		return false
	}
	w.cutAt = nil
	close(w.cut)
	return true
}

// inject sends the browser a command on the node's connection.
func (w *wiretap) inject(command string) {
	w.t.Helper()
	w.mu.Lock()
	upstream := w.upstream
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := upstream.Write(ctx, websocket.MessageText, []byte(command)); err != nil {
		w.t.Fatalf("inject: %v", err)
	}
}

// killRenderers ends every renderer process of a browser of the test's own.
func killRenderers(t *testing.T, b *chromiumtest.Browser) {
	t.Helper()
	var info struct {
		ProcessInfo []struct {
			Type string `json:"type"`
			ID   int    `json:"id"`
		} `json:"processInfo"`
	}
	if err := json.Unmarshal(chromiumtest.Dial(t, b.WS()).Must("", "SystemInfo.getProcessInfo", nil), &info); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range info.ProcessInfo {
		if p.Type == "renderer" && p.ID > 1 {
			n++
			_ = syscall.Kill(p.ID, syscall.SIGKILL) // one may have ended by itself
		}
	}
	if n == 0 {
		t.Fatalf("no renderer among %+v", info.ProcessInfo)
	}
}

// popup waits for a page that the page opened, besides those known.
func (k *task) popup(opener messages.TargetID, known ...messages.TargetID) messages.Page {
	k.Helper()
	var found messages.Page
	k.await("a popup", func(s *messages.Snapshot) bool {
		for _, p := range s.Pages {
			if p.OpenerID != nil && *p.OpenerID == opener && !slices.Contains(known, p.TargetID) {
				found = p
				return true
			}
		}
		return false
	})
	return found
}

func TestM14_APopupsFirstScriptIsCaught(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]string{
		"same site":            `openChild()`,
		"another site":         `openChild('http://b.test/prompt-on-load')`,
		"without an opener":    `window.open('/prompt-on-load', '_blank', 'noopener')`,
		"blank, then on":       `const w = window.open(''); w.location = '/prompt-on-load'`,
		"by a link":            `const a = document.createElement('a'); a.href = '/prompt-on-load'; a.target = '_blank'; document.body.append(a); a.click()`,
		"with an inline frame": `openChild('/oopif-prompt-on-load')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := setup(t).task("m14")
			k.goTo("http://a.test/popup")
			opener := k.snapshot().PageTargetID
			for i := range 5 {
				k.laterOn(opener, k.site.URL(open))
				d := k.dialog()
				if d.Message != "who?" || d.TargetID == opener || d.ID != messages.NewDialogID(uint64(i+1)) {
					t.Fatalf("dialog %+v", d)
				}
				p := k.popup(opener)
				if p.TargetID != d.TargetID || p.PageState != messages.PageDialog {
					t.Errorf("popup %+v, dialog %+v", p, d)
				}
				k.accept("round " + strconv.Itoa(i))
				if got := k.evalOnFrame(d, "window.got"); got != strconv.Quote("round "+strconv.Itoa(i)) {
					t.Errorf("the popup received %s", got)
				}
				k.cdp("", "Target.closeTarget", `{"targetId":"`+string(p.TargetID)+`"}`)
				k.await("the popup's end", func(s *messages.Snapshot) bool { return len(s.Pages) == 1 })
			}
		})
	}
}

// evalOnFrame evaluates where the dialog came from.
func (k *task) evalOnFrame(d messages.Dialog, expression string) string {
	k.Helper()
	v, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{FrameID: d.FrameID}, expression)
	if err != nil {
		k.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

func TestC9_APopupsDialogFreezesItsOpenerAndThatIsSaid(t *testing.T) {
	t.Parallel()
	k := setup(t).task("c9")
	k.goTo("http://a.test/popup")
	opener := k.snapshot().PageTargetID
	k.laterOn(opener, "openChild()")
	d := k.dialog()
	// Same site, same process: the opener cannot run, and its caller is not
	// left hanging.
	k.wedged(messages.CDPRequest{TargetID: opener})
	k.respond(messages.DialogAnswer{Action: messages.ActionDismiss, DialogID: d.ID})
	k.await("both run on", func(s *messages.Snapshot) bool {
		return len(s.Pages) == 2 && s.Pages[0].PageState == messages.PageOK && s.Pages[1].PageState == messages.PageOK
	})
	if got := k.evalOn(opener, "window.child !== null"); got != "true" {
		t.Errorf("the opener says %s", got)
	}
	if got := k.evalOn(d.TargetID, "window.got"); got != "null" {
		t.Errorf("the popup received %s", got)
	}
}

func TestC29_AnOOPIFsFirstScriptIsCaught(t *testing.T) {
	t.Parallel()
	k := setup(t).task("c29")
	for i := range 10 {
		_, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: k.site.URL("http://a.test/oopif-prompt-on-load?" + strconv.Itoa(i))})
		if code := messages.CodeOf(err); code != messages.CodeBlockedByDialog {
			t.Fatalf("navigate: %v", err)
		}
		d := k.dialog()
		if d.Message != "who?" || d.FrameID == k.snapshot().FrameTree.Top.FrameID {
			t.Fatalf("dialog %+v", d)
		}
		k.accept("found")
		if got := k.evalOnFrame(d, "window.got"); got != `"found"` {
			t.Fatalf("round %d: the frame received %s", i, got)
		}
	}
}

func TestC29_OtherPeoplesPopupsAreNotHeld(t *testing.T) {
	t.Parallel()
	r := setup(t)
	k := r.task("c29")
	w := chromiumtest.Dial(t, r.chrome.WS())
	p := w.NewPage(r.site.URL("http://a.test/popup"))
	for i := range 5 {
		title := strconv.Itoa(i)
		r.site.Set("/child", `<title>`+title+`</title><script>opener.postMessage('`+title+`', '*')</script>`)
		got := p.Send(p.Session, "Runtime.evaluate", map[string]any{
			"expression":    "new Promise(done => { addEventListener('message', e => done(e.data), {once: true}); openChild('/child') })",
			"awaitPromise":  true,
			"returnByValue": true, "userGesture": true,
		})
		b, err := got.Wait(patience)
		if err != nil || !bytes.Contains(b, []byte(`"`+title+`"`)) {
			t.Fatalf("popup %d: %s, %v", i, b, err)
		}
	}
	if s := k.snapshot(); len(s.Pages) != 1 {
		t.Errorf("pages %+v", s.Pages)
	}
}

func TestC30_ACreatedPagesFirstScriptIsCaught(t *testing.T) {
	t.Parallel()
	k := setup(t).task("c30")
	k.goTo("http://a.test/plain")
	first := k.snapshot().PageTargetID
	for i := range 10 {
		var r struct {
			TargetID messages.TargetID `json:"targetId"`
		}
		params, _ := json.Marshal(map[string]string{"url": k.site.URL("http://b.test/prompt-on-load")})
		if err := json.Unmarshal(k.cdp("", "Target.createTarget", string(params)), &r); err != nil {
			t.Fatal(err)
		}
		d := k.dialog()
		if d.TargetID != r.TargetID || d.Message != "who?" {
			t.Fatalf("round %d: dialog %+v on page %s", i, d, r.TargetID)
		}
		k.accept("created")
		if got := k.evalOn(r.TargetID, "window.got"); got != `"created"` {
			t.Errorf("round %d: the page received %s", i, got)
		}
		k.cdp("", "Target.closeTarget", `{"targetId":"`+string(r.TargetID)+`"}`)
	}
	k.await("only the first page", func(s *messages.Snapshot) bool { return len(s.Pages) == 1 && s.PageTargetID == first })
}

// waiting is a second client that holds every new page, as the product does.
func waiting(t *testing.T, b *chromiumtest.Browser) *chromiumtest.Raw {
	t.Helper()
	w := chromiumtest.Dial(t, b.WS())
	w.Must("", "Target.setAutoAttach", map[string]any{
		"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": []map[string]any{{"type": "page"}},
	})
	return w
}

func heldPage(w *chromiumtest.Raw, match func(targetInfo json.RawMessage) bool) (session string) {
	return w.NextWhere("a held page", func(e chromiumtest.Event) bool {
		return chromiumtest.On("", "Target.attachedToTarget")(e) && match(json.RawMessage(e.Param("targetInfo")))
	}).Param("sessionId")
}

func TestC32_AnotherClientThatWaits(t *testing.T) {
	t.Parallel()
	t.Run("a popup runs for us, its dialog is ours", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Launch(t)
		k := setupOn(t, b).task("c32")
		k.goTo("http://a.test/popup")
		opener := k.snapshot().PageTargetID
		waiting(t, b) // and never resumes anything
		k.laterOn(opener, "openChild()")
		d := k.dialog()
		k.accept("ours")
		if got := k.evalOn(d.TargetID, "window.got"); got != `"ours"` {
			t.Errorf("the popup received %s", got)
		}
	})
	t.Run("a created page waits for it, and nothing else does", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Launch(t)
		k := setupOn(t, b).task("c32")
		k.goTo("http://a.test/plain")
		first := k.snapshot().PageTargetID
		w := waiting(t, b)
		var r struct {
			TargetID messages.TargetID `json:"targetId"`
		}
		k.atOnce("create", func(ctx context.Context) error {
			return json.Unmarshal(k.cdp("", "Target.createTarget", `{"url":"about:blank"}`), &r)
		})
		session := heldPage(w, func(info json.RawMessage) bool {
			return chromiumtest.Field(info, "targetId") == string(r.TargetID)
		})
		to := messages.NavigateRequest{URL: k.site.URL("http://a.test/prompt-on-load"), TargetID: r.TargetID, TimeoutS: 1}
		_, err := k.node.Navigate(k.ctx, k.id, to)
		wantCode(t, err, messages.CodeDeadline)
		if got := k.evalOn(first, "document.title"); got != `"/plain"` {
			t.Errorf("the first page says %s", got)
		}
		w.Send(session, "Runtime.runIfWaitingForDebugger", nil)
		if d := k.dialog(); d.TargetID != r.TargetID {
			t.Errorf("dialog %+v", d)
		}
		k.accept("late")
		if got := k.evalOn(r.TargetID, "window.got"); got != `"late"` {
			t.Errorf("the page received %s", got)
		}
	})
}

func TestC33_AHeldPopupIsResumedAfterADrop(t *testing.T) {
	t.Parallel()
	isPopup := func(event []byte) bool {
		return bytes.HasPrefix(event, []byte(`{"method":"Target.attachedToTarget"`)) && bytes.Contains(event, []byte(`"openerId"`))
	}
	for name, start := range map[string]func(*testing.T) *rig{
		"scope own": func(t *testing.T) *rig { return setup(t) },
		"scope browser": func(t *testing.T) *rig {
			return setupOn(t, chromiumtest.Launch(t))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t)
			wire := tap(t, r.chrome)
			k := wire.task(r, "c33", func(s *messages.TaskSpec) {
				if name == "scope browser" {
					s.Scope = messages.ScopeBrowser
				}
			})
			k.goTo("http://a.test/popup")
			opener := k.snapshot().PageTargetID
			cut := wire.cutOn(isPopup)
			k.laterOn(opener, "openChild('/plain')")
			select {
			case <-cut:
			case <-time.After(patience):
				t.Fatal("no popup was seen on the wire")
			}
			k.await("reconnected", func(s *messages.Snapshot) bool {
				return s.State == messages.StateActive && s.Connection.Reconnects == 1
			})
			p := k.popup(opener)
			// Tasks of the event loop, which a frozen page does not run.
			const tick = "new Promise(r => setTimeout(() => r(document.title), 1))"
			for page, want := range map[messages.TargetID]string{opener: `"/popup"`, p.TargetID: `"/plain"`} {
				var got string
				k.await("the title of "+want, func(*messages.Snapshot) bool {
					params, _ := json.Marshal(map[string]any{"expression": tick, "awaitPromise": true, "returnByValue": true})
					res, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "Runtime.evaluate", Params: params, TargetID: page})
					if err != nil {
						t.Fatalf("%s is frozen: %v", want, err)
					}
					got = chromiumtest.Field(json.RawMessage(chromiumtest.Field(res.Result, "result")), "value")
					return strconv.Quote(got) == want
				})
			}
			if got := k.evalOn(opener, "window.child !== null"); got != "true" {
				t.Errorf("window.open gave the opener %s", got)
			}
		})
	}
}

func TestC23_TroubledPagesDelayNoOther(t *testing.T) {
	t.Parallel()
	b := chromiumtest.Launch(t)
	r := setupOn(t, b)
	w := chromiumtest.Dial(t, b.WS())
	healthy := map[messages.TargetID]bool{}
	for range 4 {
		healthy[messages.TargetID(w.NewPage(r.site.URL("http://a.test/oopif")).Target)] = true
	}
	troubled := map[messages.TargetID]messages.PageState{}

	// Its only client goes away while the dialog is open.
	gone := chromiumtest.Dial(t, b.WS())
	dialog := chromiumtest.Field(w.Must("", "Target.createTarget", map[string]any{"url": "about:blank"}), "targetId")
	session := gone.Attach(dialog)
	gone.Must(session, "Page.enable", nil)
	gone.Must(session, "Page.navigate", map[string]any{"url": r.site.URL("http://d.test/alert-on-load")})
	gone.NextWhere("opening", chromiumtest.On(session, "Page.javascriptDialogOpening"))
	troubled[messages.TargetID(dialog)] = messages.PageDialogUnreachable

	busy := w.NewPage(r.site.URL("http://e.test/busy"))
	busy.Start(busy.Session, "console.log('spinning'); spin()")
	busy.NextWhere("spinning", chromiumtest.On(busy.Session, "Runtime.consoleAPICalled"))
	troubled[messages.TargetID(busy.Target)] = messages.PageHung

	crashed := w.NewPage(r.site.URL("http://f.test/plain"))
	crashed.Must(crashed.Session, "Inspector.enable", nil)
	crashed.Send(crashed.Session, "Page.crash", nil)
	crashed.NextWhere("crash", chromiumtest.On(crashed.Session, "Inspector.targetCrashed"))
	troubled[messages.TargetID(crashed.Target)] = messages.PageCrashed
	gone.Close()

	var k *task
	begun := time.Now()
	r.atOnceStart(func() {
		k = r.task("c23", func(s *messages.TaskSpec) { s.Scope = messages.ScopeBrowser })
	})
	t.Logf("attached after %s", time.Since(begun))
	s := k.snapshot()
	seen := 0
	for _, p := range s.Pages {
		want, ill := troubled[p.TargetID]
		if !ill {
			want = messages.PageOK
		}
		if ill || healthy[p.TargetID] {
			seen++
		}
		if p.PageState != want || p.SessionID == "" {
			t.Errorf("page %+v, want %s", p, want)
		}
	}
	if seen != len(healthy)+len(troubled) {
		t.Errorf("%d pages of %d: %+v", seen, len(healthy)+len(troubled), s.Pages)
	}
	for page := range healthy {
		k.atOnce("evaluate", func(ctx context.Context) error {
			v, err := evalOn(ctx, k.node, k.id, messages.CDPRequest{TargetID: page}, "document.title")
			if v != `"/oopif"` {
				t.Errorf("title %s", v)
			}
			return err
		})
		full, err := k.node.Snapshot(k.id, messages.SnapshotOptions{TargetID: page})
		if err != nil || full.FrameTree == nil || len(full.FrameTree.Children) != 1 || full.FrameTree.Children[0].SessionID == "" {
			t.Errorf("tree of %s: %+v, %v", page, full.FrameTree, err)
		}
	}
	codes := map[messages.PageState]messages.Code{
		messages.PageDialogUnreachable: messages.CodePageWedged,
		messages.PageHung:              messages.CodePageWedged,
		messages.PageCrashed:           messages.CodePageCrashed,
	}
	for page, state := range troubled {
		k.atOnceErr("evaluate on the page that is "+string(state), codes[state], func() error {
			_, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TargetID: page}, "1")
			return err
		})
	}
}

// atOnceStart bounds an attach: two classifications and what the machine adds.
func (r *rig) atOnceStart(f func()) {
	r.Helper()
	begun := time.Now()
	f()
	if took := time.Since(begun); took > atOnce {
		r.Errorf("the attach took %s", took)
	}
}
