package acceptance_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/chaos/hosted"
	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// A browser behind a service that refuses its debugger.
var undebugged = hosted.Options{DismissAfter: 10 * time.Millisecond, Refuse: []string{"Debugger"}}

// The rows of the suite that the way of waiting may change.
var changedByRequests = []string{
	"D1", "D3", "D4", "D5", "D6", "D8", "D11", "D14", "D15", "D19", "D20", "D21", "D22", "D23", "D25",
	"C13", "D18 every frame", "C7", "M7", "demand 6",
}

func TestD24_TheSuiteByRequests(t *testing.T) {
	t.Parallel()
	theUndebugged.Store(host(t, undebugged))
	t.Run("rows", func(t *testing.T) {
		for _, name := range changedByRequests {
			t.Run(name, suite[name])
		}
	})
}

// undebuggedThrough is a task by requests behind a proxy.
func undebuggedThrough(t *testing.T, id messages.TaskID, change ...func(*messages.TaskSpec)) (*task, *chromiumtest.FaultProxy) {
	h := host(t, hosted.Options{Refuse: []string{"Debugger"}})
	r := setupOn(t, h.chrome)
	door := h.open().URL()
	u, err := url.Parse(door)
	if err != nil {
		t.Fatal(err)
	}
	p := chromiumtest.Proxy(t, u.Host)
	askingPages(r)
	return r.task(id, append(change, at(t, p.URL(door)), bridged)...), p
}

func (k *task) awaitBridge() {
	k.Helper()
	k.await("the bridge", func(s *messages.Snapshot) bool { return s.Pages[0].Bridge == "on" && s.PageState == messages.PageOK })
}

// M11: a request passes to the other link, whichever of the two it was told to.
func TestM2_ARequestOutlivesEitherLink(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]string{"in the page": "the page", "in a frame of another process": "a frame of another process"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, p := undebuggedThrough(t, "outlives")
			l := places[place](k)
			k.awaitBridge()
			for i := range uint64(3) {
				primary, anchor := k.links(p)
				k.runs(l, l.in+"got = undefined; setTimeout(() => ask('prompt')); 0")
				d := k.dialog()
				if d.Path != "bridge" {
					t.Errorf("%d: dialog %+v", i, d)
				}
				if i == 1 { // the anchor is told first by now
					k.fells(p, anchor)
				} else {
					k.fells(p, primary)
				}
				if c := k.accept("still there"); c.ID != d.ID {
					t.Errorf("%d: record %+v", i, c)
				}
				k.links(p)
				k.awaitBridge()
				k.wantGot(l, `"still there"`)
			}
		})
	}
}

// With no link left a page is dismissed, and opens no native dialog, which no session would
// see; the links that come back find the bridge in its documents.
func TestC43_ARequestThatNobodyHasIsADismissal(t *testing.T) {
	t.Parallel()
	k, p := undebuggedThrough(t, "nobody")
	l := places["a frame of another process"](k)
	k.awaitBridge()
	k.links(p)
	w, session := k.witness(k.snapshot().PageTargetID)
	k.runs(l, "setTimeout(() => ask('prompt')); 0")
	d := k.dialog()
	p.KillAll()
	if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByLost || c.Path != "bridge" {
		t.Errorf("record %+v", c)
	}
	k.reconnected(1)
	k.await("the frame", func(s *messages.Snapshot) bool { return l.grown(s.FrameTree) })
	k.awaitBridge()
	k.wantGot(l, "null")
	k.runs(l, "setTimeout(() => ask('prompt')); 0")
	if d := k.dialog(); d.Path != "bridge" {
		t.Errorf("dialog %+v", d)
	}
	k.accept("again")
	k.wantGot(l, `"again"`)
	if n := len(w.Events(chromiumtest.On(session, "Page.javascriptDialogOpening"))); n != 0 {
		t.Errorf("%d native dialogs", n)
	}
}

// A call whose document is about to go is continued, and where the document stays after all
// (a download, a 204) it stays bridged, for the anchor as well.
func TestC44_ADocumentThatStaysIsBridged(t *testing.T) {
	t.Parallel()
	k, p := undebuggedThrough(t, "stays")
	k.site.Handle("/nothing", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	k.goTo("http://a.test/left")
	k.links(p)
	k.awaitBridge()
	w, session := k.witness(k.snapshot().PageTargetID)
	k.later("", "window.got = confirm('let go')")
	k.dialog()
	w.Send(session, "Page.navigate", map[string]any{"url": k.site.URL("http://a.test/nothing")})
	k.closed("d-1")
	if got := k.eval("", "window.got"); got != "false" {
		t.Errorf("the page received %s", got)
	}
	k.later("", "window.got = confirm('bridged?')")
	if d := k.dialog(); d.Path != "bridge" || d.Message != "bridged?" {
		t.Errorf("dialog %+v", d)
	}
	k.accept("")
	if got := k.eval("", "window.got"); got != "true" {
		t.Errorf("the page received %s", got)
	}
	k.awaitBridge()
}

// A page sees that it is bridged, and where its requests went. What is asked is not in
// them; and who makes one like them gets nothing, and opens nothing.
func TestBridge_APageLearnsNothingOfItsRequests(t *testing.T) {
	t.Parallel()
	h := host(t, hosted.Options{Refuse: []string{"Debugger"}})
	r := h.setup(t)
	k := r.task("observed", bridged)
	matrixPages(r)
	k.site.SetType("/observer", "text/html", `<title>/observer</title><script>
		window.seen = Object.getOwnPropertyNames(window).filter(n => n.startsWith('_'));
		new PerformanceObserver(l => { for (const e of l.getEntries()) seen.push(e.name) }).observe({ type: 'resource', buffered: true });
		for (const name of ['open', 'send', 'setRequestHeader']) { const real = XMLHttpRequest.prototype[name]; XMLHttpRequest.prototype[name] = function (...args) { seen.push(name, ...args.map(String)); return real.apply(this, args) } }
	</script>`, "Content-Security-Policy: connect-src 'self'")
	for _, page := range []string{"https://a.test/observer", "http://a.test/observer"} {
		k.goTo(page)
		k.awaitBridge()
		k.later("", "window.got = prompt('a secret text', 'and more')")
		if d := k.dialog(); d.Message != "a secret text" || d.DefaultPrompt != "and more" || d.Path != "bridge" {
			t.Errorf("dialog %+v", d)
		}
		k.accept("a secret answer")
		seen := k.evalPromise("", "new Promise(r => setTimeout(() => r(seen.join(' ')), 200))")
		t.Logf("the page saw %.600s", seen)
		if strings.Contains(seen, "secret") || strings.Contains(seen, " open ") {
			t.Errorf("the page saw %s", seen)
		}
		address := regexp.MustCompile(`https?://\S+/[0-9a-f]{24}/[0-9a-f]{24}\.[0-9-]+`).FindAllString(seen, -1)
		if len(address) == 0 {
			t.Fatalf("the page saw no request: %s", seen)
		}
		// The last once more, and one that might be the next.
		last := address[len(address)-1]
		got := k.evalPromise("", `new Promise(r => { const all = [], ask = where => { const x = new XMLHttpRequest(); x.open('GET', where); x.onloadend = () => { all.push(x.status + ' ' + x.responseText); if (all.length === 2) r(all.join()) }; x.send() }; ask('`+last+`'); ask('`+last+`0') })`)
		if got != `"0 ,0 "` {
			t.Errorf("the page got %s of requests of its own", got)
		}
		if s := k.snapshot(); len(s.PendingDialogs) != 0 || s.PageState != messages.PageOK {
			t.Errorf("afterwards %+v, %s", s.PendingDialogs, s.PageState)
		}
		at, err := url.Parse(last)
		if err != nil {
			t.Fatal(err)
		}
		if n := k.site.Hits(at.Path); n != 0 {
			t.Errorf("%d requests reached the page's own server", n)
		}
	}
}

// C41: a client of the page's own that aborts whatever it intercepts has a request before
// the browser's session has it. The call is dismissed, without a record, since no agent was
// asked; the document finds out, and is native from then on.
func TestC41_ARequestThatIsAbortedIsADismissal(t *testing.T) {
	t.Parallel()
	k := host(t, hosted.Options{Refuse: []string{"Debugger"}}).setup(t).task("aborted", bridged)
	k.goTo("http://a.test/prompt")
	k.awaitBridge()
	w, session := k.witness(k.snapshot().PageTargetID)
	w.Must(session, "Fetch.enable", map[string]any{"patterns": []any{map[string]any{"urlPattern": "*"}}})
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for failed := 0; ; {
			for _, e := range w.Events(chromiumtest.On(session, "Fetch.requestPaused"))[failed:] {
				failed++
				w.Send(session, "Fetch.failRequest", map[string]any{"requestId": e.Param("requestId"), "errorReason": "Aborted"})
			}
			select {
			case <-stop:
				return
			case <-look.C:
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
	k.later("", "window.got = 'open'; window.got = prompt('of nobody')")
	k.await("the document to have found out", func(s *messages.Snapshot) bool { return s.Pages[0].Bridge == messages.BridgeUnavailable })
	if got := k.eval("", "window.got"); got != "null" {
		t.Errorf("the page received %s", got)
	}
	if n := len(w.Events(chromiumtest.On(session, "Page.javascriptDialogOpening"))); n != 0 {
		t.Errorf("%d native dialogs of that call", n)
	}
	k.later("", "ask()")
	if d := k.dialog(); d.ID != "d-1" || d.Path != messages.PathNative {
		t.Errorf("dialog %+v", d)
	}
	k.accept("natively")
	if got := k.eval("", "window.got"); got != `"natively"` {
		t.Errorf("the page received %s", got)
	}
}

// Where a document may ask its own origin alone, a request that no link holds any more
// reaches the site's server. What was asked is not in it (C43).
func TestC43_ASitesServerSeesNothingOfWhatIsAsked(t *testing.T) {
	t.Parallel()
	const secret = "of-what-is-asked"
	var mu sync.Mutex
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		all, _ := httputil.DumpRequest(q, true)
		mu.Lock()
		seen = append(seen, string(all))
		mu.Unlock()
		w.Header().Set("Content-Security-Policy", "connect-src 'self'")
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>self</title>")
	}))
	t.Cleanup(server.Close)
	k, p := undebuggedThrough(t, "self", oneLink)
	k.goTo(server.URL + "/page")
	k.awaitBridge()
	w, session := k.witness(k.snapshot().PageTargetID)
	k.later("", "window.got = 'open'; window.got = prompt('"+secret+"', '"+secret+"')")
	d := k.dialog()
	if d.Path != messages.PathBridge || d.Message != secret {
		t.Errorf("dialog %+v", d)
	}
	p.KillAll()
	if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByLost || c.Path != messages.PathBridge {
		t.Errorf("record %+v", c)
	}
	if got := string(w.Eval(session, "window.got")); got != "null" {
		t.Errorf("the page received %s", got)
	}
	if n := len(w.Events(chromiumtest.On(session, "Page.javascriptDialogOpening"))); n != 0 {
		t.Errorf("%d native dialogs", n)
	}
	k.reconnected(1)
	k.awaitBridge()
	mu.Lock()
	defer mu.Unlock()
	t.Logf("the server saw %q", seen)
	if len(seen) < 2 {
		t.Error("no request has come to the server: this browser does not do what is tested here")
	}
	for _, q := range seen {
		if strings.Contains(q, secret) {
			t.Errorf("the server saw %s", q)
		}
	}
}
