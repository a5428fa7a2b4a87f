package acceptance_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// full is the current page's whole frame tree.
func (k *task) full() *messages.FrameTree {
	k.Helper()
	s, err := k.node.Snapshot(k.id, messages.SnapshotOptions{Full: true})
	if err != nil {
		k.Fatalf("full snapshot: %v", err)
	}
	return s.FrameTree
}

// awaitTree waits for a whole frame tree that is as expected.
func (k *task) awaitTree(what string, ok func(*messages.FrameTree) bool) *messages.FrameTree {
	k.Helper()
	var found *messages.FrameTree
	k.await(what, func(*messages.Snapshot) bool {
		t := k.full()
		if t != nil && ok(t) {
			found = t
		}
		return found != nil
	})
	return found
}

// frameWhere waits for a frame of the whole tree.
func (k *task) frameWhere(what string, ok func(messages.FrameNode) bool) messages.FrameNode {
	k.Helper()
	var found messages.FrameNode
	k.awaitTree("a frame "+what, func(t *messages.FrameTree) bool {
		i := slices.IndexFunc(t.Children, func(n messages.FrameNode) bool { return (!n.IsOOPIF || n.SessionID != "") && ok(n) })
		if i >= 0 {
			found = t.Children[i]
		}
		return i >= 0
	})
	return found
}

// fullFrame is frame beyond the caps.
func (k *task) fullFrame(suffix string) messages.FrameNode {
	k.Helper()
	return k.frameWhere("at "+suffix, func(n messages.FrameNode) bool { return strings.HasSuffix(n.URL, suffix) })
}

func node(t *messages.FrameTree, id messages.FrameID) (messages.FrameNode, bool) {
	i := slices.IndexFunc(t.Children, func(n messages.FrameNode) bool { return n.FrameID == id })
	if i < 0 {
		return messages.FrameNode{}, false
	}
	return t.Children[i], true
}

// evalPromise evaluates and awaits the promise.
func (k *task) evalPromise(frame messages.FrameID, expression string) string {
	k.Helper()
	params, err := json.Marshal(map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if err != nil {
		k.Fatal(err)
	}
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(k.cdp(frame, "Runtime.evaluate", string(params)), &r); err != nil || r.Exception != nil {
		k.Fatalf("%s: %v %s", expression, err, r.Exception)
	}
	return string(r.Result.Value)
}

// watched collects a task's events.
type watched struct {
	*task
	stream messages.EventStream
	seen   []messages.Event
}

// watch begins with the reset that holds the state as it is.
func (k *task) watch() *watched {
	k.Helper()
	w, err := k.node.Watch(k.ctx, k.id, 0, false)
	if err != nil {
		k.Fatalf("watch: %v", err)
	}
	k.Cleanup(w.Close)
	all := &watched{task: k, stream: w}
	all.until("the reset", func(messages.Event) bool { return true })
	return all
}

// until reads on until an event is as expected. What comes in one batch with
// it is seen too.
func (w *watched) until(what string, ok func(messages.Event) bool) messages.Event {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	if i := slices.IndexFunc(w.seen, ok); i >= 0 {
		return w.seen[i]
	}
	for {
		events, err := w.stream.Next(ctx)
		if err != nil {
			w.Fatalf("%s: no such event (%v) among %d", what, err, len(w.seen))
		}
		w.seen = append(w.seen, events...)
		if i := slices.IndexFunc(events, ok); i >= 0 {
			return events[i]
		}
	}
}

func keys(v any) []string {
	m, _ := v.(map[string]any)
	return slices.Sorted(maps.Keys(m))
}

func TestF1_TheShapeOfTheTree(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f1")
	k.site.Set("/two-levels", `<title>/two-levels</title><iframe src="/mid"></iframe>`)
	k.site.Set("/mid", `<title>/mid</title><iframe src="http://b.test/plain"></iframe>`)
	k.goTo("http://a.test/two-levels")
	mid, low := k.frame("/mid"), k.frame("/plain")
	_, snapshot := k.door().call("GET", "/v1/tasks/f1/snapshot", "")
	tree, _ := snapshot["frame_tree"].(map[string]any)
	if got := keys(tree); !slices.Equal(got, []string{"children", "top", "truncated"}) {
		t.Errorf("tree has %v", got)
	}
	s := k.snapshot()
	origin := k.site.URL("http://a.test")
	want := map[string]any{"frame_id": string(s.PageTargetID), "url": origin + "/two-levels", "origin": origin}
	if diff := cmp.Diff(want, tree["top"]); diff != "" {
		t.Errorf("top: %s", diff)
	}
	other := k.site.URL("http://b.test")
	children := []any{
		map[string]any{"frame_id": string(mid.FrameID), "parent_frame_id": string(s.PageTargetID), "url": origin + "/mid", "origin": origin, "is_oopif": false},
		map[string]any{"frame_id": string(low.FrameID), "parent_frame_id": string(mid.FrameID), "url": other + "/plain", "origin": other, "is_oopif": true, "session_id": string(low.SessionID)},
	}
	if diff := cmp.Diff(any(children), tree["children"]); diff != "" {
		t.Errorf("children: %s", diff)
	}
	if tree["truncated"] != false || low.SessionID == "" {
		t.Errorf("tree %v", tree)
	}
}

func TestF2_TheEntryCap(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]struct {
		shown     int
		truncated bool
	}{60: {30, true}, 31: {30, true}, 30: {30, false}} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			k := setup(t).task("f2")
			k.goTo("http://a.test/many?n=" + strconv.Itoa(n))
			full := k.awaitTree("all frames", func(f *messages.FrameTree) bool {
				return len(f.Children) == n && !slices.ContainsFunc(f.Children, func(c messages.FrameNode) bool { return c.SessionID == "" })
			})
			if full.Truncated {
				t.Error("the whole tree says that it is truncated")
			}
			shown := k.snapshot().FrameTree
			if len(shown.Children) != want.shown || shown.Truncated != want.truncated {
				t.Errorf("%d shown, truncated %v", len(shown.Children), shown.Truncated)
			}
			if !slices.Equal(shown.Children, full.Children[:want.shown]) {
				t.Error("shown are not the first ones")
			}
			_, body := k.door().call("GET", "/v1/tasks/f2/snapshot?full=true", "")
			if got := len(body["frame_tree"].(map[string]any)["children"].([]any)); got != n {
				t.Errorf("full=true over HTTP: %d", got)
			}
		})
	}
}

func TestF3_TheOOPIFDepthCap(t *testing.T) {
	t.Parallel()
	t.Run("a chain of four origins", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("f3")
		k.goTo("http://a.test/nested")
		deepest := k.fullFrame("/prompt")
		full := k.full()
		if len(full.Children) != 3 || full.Truncated || full.Children[2].FrameID != deepest.FrameID {
			t.Fatalf("whole: %+v", full)
		}
		shown := k.snapshot().FrameTree
		if len(shown.Children) != 2 || !shown.Truncated || !slices.Equal(shown.Children, full.Children[:2]) {
			t.Errorf("shown: %+v", shown)
		}
		if got := k.eval(deepest.FrameID, "document.title"); got != `"/prompt"` {
			t.Errorf("what is not shown is still reached: %s", got)
		}
	})
	t.Run("in-process frames do not count", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("f3")
		k.site.Set("/l0", `<iframe src="/l1"></iframe>`)
		k.site.Set("/l1", `<iframe src="/l2"></iframe>`)
		k.site.Set("/l2", `<iframe src="/l3"></iframe>`)
		k.site.Set("/l3", `<iframe src="http://b.test/plain"></iframe>`)
		k.goTo("http://a.test/l0")
		k.frame("/plain")
		if shown := k.snapshot().FrameTree; len(shown.Children) != 4 || shown.Truncated {
			t.Errorf("shown: %+v", shown)
		}
	})
}

func TestF4_OOPIFsAreMarked(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f4")
	k.site.Set("/mixed", `<iframe src="/prompt"></iframe><iframe src="http://b.test/plain"></iframe><iframe sandbox="allow-scripts" src="/confirm"></iframe>`)
	k.goTo("http://a.test/mixed")
	if f := k.frame("/prompt"); f.IsOOPIF || f.SessionID != "" {
		t.Errorf("same origin: %+v", f)
	}
	for _, suffix := range []string{"/plain", "/confirm"} {
		if f := k.frame(suffix); !f.IsOOPIF || f.SessionID == "" {
			t.Errorf("%s: %+v", suffix, f)
		}
	}
	// M12: the page's own session knows nothing of it.
	if tree := string(k.cdp("", "Page.getFrameTree", "{}")); strings.Contains(tree, "/plain") || !strings.Contains(tree, "/prompt") {
		t.Errorf("Page.getFrameTree: %s", tree)
	}
}

func TestF5_ASwapIsNoRemoval(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f5")
	k.goTo("http://a.test/same-origin")
	f := k.frame("/prompt")
	stream := k.watch()
	for _, c := range []struct {
		url   string
		oopif bool
	}{{"http://b.test/plain", true}, {"http://c.test/confirm", true}, {"http://a.test/alert", false}} {
		to := k.site.URL(c.url)
		k.sends("f", to)
		k.awaitTree("the frame at "+c.url, func(tree *messages.FrameTree) bool {
			n, ok := node(tree, f.FrameID)
			return ok && n.URL == to && n.IsOOPIF == c.oopif && (n.SessionID != "") == c.oopif && n.Origin == to[:strings.LastIndexByte(to, '/')]
		})
	}
	k.later("", "confirm('mark')")
	stream.until("the mark", func(e messages.Event) bool { return e.Dialog != nil })
	neverAbsent(t, stream.seen, f.FrameID)
}

// neverAbsent checks every published tree.
func neverAbsent(t *testing.T, events []messages.Event, id messages.FrameID) {
	t.Helper()
	trees := 0
	for _, e := range events {
		tree := e.FrameTree
		if e.Snapshot != nil {
			tree = e.Snapshot.FrameTree
		}
		if tree == nil {
			continue
		}
		trees++
		if n, ok := node(tree, id); !ok || n.ParentFrameID != tree.Top.FrameID {
			t.Errorf("version %d: the frame is not there: %+v", e.Version, tree)
		}
	}
	t.Logf("%d trees published", trees)
	if trees < 3 {
		t.Errorf("only %d trees published", trees)
	}
}

func TestF6_BackAndForthFiftyTimes(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f6")
	k.goTo("http://a.test/same-origin")
	f := k.frame("/prompt")
	stream := k.watch()
	ways := []string{k.site.URL("http://b.test/plain"), k.site.URL("http://a.test/plain")}
	there := func(to string, oopif bool) {
		t.Helper()
		k.awaitTree("the frame at "+to, func(tree *messages.FrameTree) bool {
			n, ok := node(tree, f.FrameID)
			return ok && len(tree.Children) == 1 && n.URL == to && n.IsOOPIF == oopif && (n.SessionID != "") == oopif
		})
	}
	for i := range 50 {
		to := ways[i%2] + "?" + strconv.Itoa(i)
		k.sends("f", to)
		there(to, i%2 == 0)
	}
	k.later("", "confirm('mark')")
	stream.until("the mark", func(e messages.Event) bool { return e.Dialog != nil })
	neverAbsent(t, stream.seen, f.FrameID)
	k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})

	// Without waiting for anything in between.
	k.evalPromise("", fmt.Sprintf(`new Promise(done => {
		const f = document.getElementById('f'), ways = [%q, %q]; let i = 50;
		const go = () => { if (i === 101) return done(0); f.src = ways[i %% 2] + '?' + i; i++; setTimeout(go, i %% 7) };
		go();
	})`, ways[0], ways[1]))
	// Where it ended only the browser knows: a navigation that meets the end
	// of another one is dropped.
	k.settles(k.snapshot().PageTargetID)
	if n, ok := node(k.full(), f.FrameID); !ok || !strings.Contains(n.URL, "/plain?") {
		t.Errorf("the frame is %+v", n)
	}
}

// sends sends an iframe of the page somewhere and waits for its load event: a
// navigation begun before the parent's process knows that the frame has moved
// on is dropped by Chrome.
func (k *task) sends(element, url string) {
	k.Helper()
	k.evalPromise("", fmt.Sprintf("new Promise(r => { const f = document.getElementById(%q); f.onload = () => r(0); f.src = %q })", element, url))
}

func TestF7_ALostSessionLeavesItsFrame(t *testing.T) {
	t.Parallel()
	r := setup(t)
	wire := tap(t, r.chrome)
	k := wire.task(r, "f7")
	k.goTo("http://a.test/nested")
	f, below := k.frame("/nested-b"), k.fullFrame("/prompt")
	wire.inject(`{"id":2000000000,"method":"Target.detachFromTarget","sessionId":"` + string(k.snapshot().Pages[0].SessionID) + `","params":{"sessionId":"` + string(f.SessionID) + `"}}`)
	k.awaitTree("the frame without a session", func(tree *messages.FrameTree) bool {
		n, ok := node(tree, f.FrameID)
		return ok && n.SessionID == "" && n.IsOOPIF && n.URL == f.URL
	})
	// Those attached through it went with it; their frames stay as well.
	k.awaitTree("the frames below without sessions", func(tree *messages.FrameTree) bool {
		n, ok := node(tree, below.FrameID)
		return ok && n.SessionID == "" && len(tree.Children) == 3
	})
	_, err := k.tryEval(f.FrameID, "1")
	wantCode(t, err, messages.CodeUpstreamUnavailable)
	if got := k.eval("", "document.title"); got != `"/nested"` {
		t.Errorf("the page says %s", got)
	}
	k.eval("", "document.getElementById('f').remove(); 0")
	k.awaitTree("no frame any more", func(tree *messages.FrameTree) bool { return len(tree.Children) == 0 })
}

func TestF8_GrandchildrenAreReached(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f8")
	k.goTo("http://a.test/nested")
	for suffix, title := range map[string]string{"/nested-b": `"/nested-b"`, "/nested-c": `"/nested-c"`, "/prompt": `"/prompt"`} {
		if got := k.eval(k.fullFrame(suffix).FrameID, "document.title"); got != title {
			t.Errorf("%s: title %s", suffix, got)
		}
	}
	// One that comes later, below a frame that came later.
	c := k.fullFrame("/nested-c")
	k.eval(c.FrameID, "const late = document.createElement('iframe'); late.src = '"+k.site.URL("http://e.test/oopif-prompt")+"'; document.body.append(late); 0")
	mid := k.fullFrame("/oopif-prompt")
	low := k.frameWhere("below "+string(mid.FrameID), func(n messages.FrameNode) bool {
		return n.ParentFrameID == mid.FrameID && n.IsOOPIF && strings.HasSuffix(n.URL, "/prompt")
	})
	if got := k.eval(low.FrameID, "location.pathname"); got != `"/prompt"` {
		t.Errorf("the late grandchild says %s", got)
	}
}

func TestF9_RawCDPReachesTheFramesOwnSession(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f9")
	k.goTo("http://a.test/oopif-prompt")
	f := k.frame("/prompt")
	if inner, outer := k.eval(f.FrameID, "document.title"), k.eval("", "document.title"); inner != `"/prompt"` || outer != `"/oopif-prompt"` {
		t.Errorf("titles %s and %s", inner, outer)
	}
	status, body := k.door().call("POST", "/v1/tasks/f9/cdp",
		fmt.Sprintf(`{"method":"Runtime.evaluate","params":{"expression":"location.host"},"frame_id":%q}`, f.FrameID))
	if u, _ := url.Parse(k.site.URL("http://b.test")); status != http.StatusOK || !strings.Contains(fmt.Sprint(body), u.Host) {
		t.Errorf("over HTTP: %d %v", status, body)
	}
	// The page's own frame id is the page.
	if got := k.eval(k.snapshot().FrameTree.Top.FrameID, "document.title"); got != `"/oopif-prompt"` {
		t.Errorf("by the top frame's id: %s", got)
	}
}

func TestF10_ThreeDistinctErrors(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f10")
	k.goTo("http://a.test/same-origin")
	f := k.frame("/prompt")
	req := messages.CDPRequest{Method: "Runtime.evaluate", Params: json.RawMessage(`{"expression":"document.title"}`)}

	req.FrameID = f.FrameID
	_, err := k.node.CDP(k.ctx, "f10-nobody", req)
	wantCode(t, err, messages.CodeTaskNotFound)

	_, err = k.node.CDP(k.ctx, k.id, req)
	e := wantCode(t, err, messages.CodeFrameNotOOPIF)
	if !strings.Contains(e.Message, "contentDocument") || e.Details["parent_frame_id"] != k.snapshot().FrameTree.Top.FrameID {
		t.Errorf("%q %v", e.Message, e.Details)
	}
	if got := k.eval("", "document.getElementById('f').contentDocument.title"); got != `"/prompt"` {
		t.Errorf("the way it points at leads to %s", got)
	}

	req.FrameID = "0123456789ABCDEF0123456789ABCDEF"
	_, err = k.node.CDP(k.ctx, k.id, req)
	wantCode(t, err, messages.CodeFrameNotFound)

	t.Run("a frame that is gone", func(t *testing.T) {
		k.goTo("http://a.test/oopif")
		gone := k.frame("/plain")
		k.eval("", "document.getElementById('f').remove(); 0")
		k.awaitTree("no frame", func(tree *messages.FrameTree) bool { return len(tree.Children) == 0 })
		_, err := k.tryEval(gone.FrameID, "1")
		wantCode(t, err, messages.CodeFrameNotFound)
	})
	t.Run("another task's frame", func(t *testing.T) {
		other := k.rig.task("f10-other")
		other.goTo("http://a.test/oopif")
		_, err := k.tryEval(other.frame("/plain").FrameID, "1")
		wantCode(t, err, messages.CodeFrameNotFound)
	})
}

func TestF11_RawCDPWithoutAFrame(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f11")
	k.goTo("http://a.test/confirm")
	k.eval("", "document.cookie = 'planted=f11; path=/'; document.cookie") // read back: the write itself is not waited for
	cookies := func() string { return string(k.cdp("", "Network.getCookies", "{}")) }
	if got := cookies(); !strings.Contains(got, `"planted"`) || !strings.Contains(got, `"f11"`) {
		t.Errorf("cookies %s", got)
	}
	k.cdp("", "Emulation.setDeviceMetricsOverride", `{"width":321,"height":234,"deviceScaleFactor":2,"mobile":false}`)
	if got := k.eval("", "[innerWidth, innerHeight, devicePixelRatio]"); got != "[321,234,2]" {
		t.Errorf("viewport %s", got)
	}
	if got := string(k.cdp("", "Browser.getVersion", "{}")); !strings.Contains(got, "Chrome/") {
		t.Errorf("version %s", got)
	}
	_, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: "No.such"})
	e := wantCode(t, err, messages.CodeCDPError)
	if c, _ := e.Details["cdp"].(map[string]any); fmt.Sprint(c["code"]) != "-32601" {
		t.Errorf("Chrome's own error: %v", e.Details)
	}
	k.later("", "ask()")
	k.dialog()
	if got := cookies(); !strings.Contains(got, `"planted"`) {
		t.Errorf("cookies under a dialog %s", got)
	}
	k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
}

func TestF12_IframeCallsDialNothing(t *testing.T) {
	t.Parallel()
	r := setup(t)
	proxy := chromiumtest.Proxy(t, r.chrome.Addr())
	through, err := messages.ParseCDPURL(proxy.URL(r.chrome.WS()))
	if err != nil {
		t.Fatal(err)
	}
	k := r.task("f12", func(s *messages.TaskSpec) { s.CDPURL = through })
	defer func() { _ = k.node.StopTask(k.ctx, k.id) }() // while the proxy is there
	k.goTo("http://a.test/oopif")
	f := k.frame("/plain")
	before := proxy.Dials()
	for range 20 {
		if got := k.eval(f.FrameID, "document.title"); got != `"/plain"` {
			t.Fatalf("title %s", got)
		}
	}
	if n := proxy.Dials() - before; n != 0 || before == 0 {
		t.Errorf("%d dials during 20 calls, %d before", n, before)
	}
}

func TestF13_TheFullTreeHasWhatPageGetFrameTreeLacks(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f13")
	k.goTo("http://a.test/nested")
	k.fullFrame("/prompt")
	if tree := string(k.cdp("", "Page.getFrameTree", "{}")); strings.Contains(tree, "nested-b") {
		t.Errorf("Page.getFrameTree: %s", tree)
	}
	_, body := k.door().call("GET", "/v1/tasks/f13/snapshot?full=true", "")
	tree := body["frame_tree"].(map[string]any)
	if got := fmt.Sprint(tree["children"]); tree["truncated"] != false || !strings.Contains(got, "/nested-b") || !strings.Contains(got, "/nested-c") || !strings.Contains(got, "/prompt") {
		t.Errorf("full=true: %v", tree)
	}
	t.Run("of a page that is not the current one", func(t *testing.T) {
		first := k.snapshot().PageTargetID
		k.openTab("http://a.test/plain")
		s, err := k.node.Snapshot(k.id, messages.SnapshotOptions{TargetID: first, Full: true})
		if err != nil || s.PageTargetID != first || len(s.FrameTree.Children) != 3 {
			t.Errorf("%+v, %v", s, err)
		}
		if current := k.full(); len(current.Children) != 0 {
			t.Errorf("of the current one: %+v", current)
		}
	})
}

func TestF14_TheConsoleRing(t *testing.T) {
	t.Parallel()
	k := setup(t).task("f14")
	k.goTo("http://a.test/oopif")
	k.eval("", "for (let i = 0; i < 80; i++) console.error('planted', i, {a: 1}); console.log('no error'); console.warn('no error'); 0")
	last := func(text string) func(*messages.Snapshot) bool {
		return func(s *messages.Snapshot) bool {
			n := len(s.ConsoleErrors)
			return n > 0 && strings.HasPrefix(s.ConsoleErrors[n-1].Text, text)
		}
	}
	ring := k.await("the last error", last("planted 79 ")).ConsoleErrors
	if len(ring) != 50 {
		t.Fatalf("%d entries", len(ring))
	}
	now := float64(messages.SecondsOf(time.Now()))
	for i, c := range ring {
		if c.Text != fmt.Sprintf("planted %d Object", 30+i) || c.Level != "error" || float64(c.TS) > now+1 || float64(c.TS) < now-60 {
			t.Errorf("entry %d: %+v", i, c)
		}
	}
	t.Run("exceptions, with where they come from", func(t *testing.T) {
		const thrower = `<script>function boom(){ setTimeout(() => { throw new Error('thrown on purpose') }) }</script>`
		k.site.Set("/thrower", thrower+`<iframe src="http://b.test/thrower-below"></iframe>`)
		k.site.Set("/thrower-below", thrower)
		k.goTo("http://a.test/thrower")
		for _, c := range []struct {
			frame messages.FrameID
			page  string
		}{{"", "http://a.test/thrower"}, {k.frame("/thrower-below").FrameID, "http://b.test/thrower-below"}} {
			k.eval(c.frame, "boom()")
			want := k.site.URL(c.page)
			s := k.await("the exception of "+c.page, func(s *messages.Snapshot) bool {
				n := len(s.ConsoleErrors)
				return n == 50 && s.ConsoleErrors[n-1].URL == want
			})
			if e := s.ConsoleErrors[49]; e.Level != "exception" || !strings.Contains(e.Text, "thrown on purpose") {
				t.Errorf("entry %+v", e)
			}
		}
	})
	t.Run("the fixture page's own", func(t *testing.T) {
		k.goTo("http://a.test/console-error")
		s := k.await("both", last("Uncaught: Error: planted exception"))
		e := s.ConsoleErrors[len(s.ConsoleErrors)-2]
		if want := k.site.URL("http://a.test/console-error"); e.Text != "planted error" || e.Level != "error" || e.URL != want {
			t.Errorf("entry %+v", e)
		}
	})
}

func TestC35_FramesThatGo(t *testing.T) {
	t.Parallel()
	t.Run("removed, with what is below", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("c35")
		k.goTo("http://a.test/nested")
		k.fullFrame("/prompt")
		k.eval(k.frame("/nested-b").FrameID, "document.getElementById('f').remove(); 0")
		k.awaitTree("only the first", func(tree *messages.FrameTree) bool {
			return len(tree.Children) == 1 && strings.HasSuffix(tree.Children[0].URL, "/nested-b")
		})
		k.eval("", "document.getElementById('f').remove(); 0")
		k.awaitTree("none", func(tree *messages.FrameTree) bool { return len(tree.Children) == 0 })
	})
	t.Run("left behind by a cross-site navigation", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("c35")
		k.goTo("http://a.test/nested")
		k.fullFrame("/prompt")
		top := k.snapshot().FrameTree.Top
		k.goTo("http://c.test/plain")
		tree := k.full()
		if len(tree.Children) != 0 || tree.Top.FrameID != top.FrameID || tree.Top.URL != k.site.URL("http://c.test/plain") || tree.Top.Origin != k.site.URL("http://c.test") {
			t.Errorf("tree %+v", tree)
		}
	})
	t.Run("restored from the back/forward cache", func(t *testing.T) {
		t.Parallel()
		k := setup(t).task("c35")
		k.goTo("http://a.test/oopif-prompt")
		before := k.frame("/prompt")
		k.eval("", "window.kept = 'kept'; 0")
		k.eval(before.FrameID, "window.kept = 'kept too'; 0")
		k.goTo("http://c.test/oopif")
		k.frame("/plain")
		k.eval("", "setTimeout(() => history.back()); 0")
		k.awaitTree("the old page with its frame", func(tree *messages.FrameTree) bool {
			return strings.HasSuffix(tree.Top.URL, "/oopif-prompt") && len(tree.Children) == 1 && tree.Children[0].SessionID != ""
		})
		after := k.frame("/prompt")
		if after.FrameID != before.FrameID || after.SessionID == before.SessionID {
			t.Errorf("before %+v, after %+v", before, after)
		}
		if a, b := k.eval("", "window.kept"), k.eval(after.FrameID, "window.kept"); a != `"kept"` || b != `"kept too"` {
			t.Errorf("it was loaded anew: %s, %s", a, b)
		}
		k.later(after.FrameID, "ask()")
		if d := k.dialog(); d.FrameID != after.FrameID {
			t.Errorf("dialog %+v", d)
		}
		k.accept("restored")
		if got := k.eval(after.FrameID, "window.got"); got != `"restored"` {
			t.Errorf("the frame received %s", got)
		}
	})
}

// truth is the forest by the browser's own word: each session's tree, merged
// by frame id, that of a frame's own session laid over its parent's (C36).
func truth(t *testing.T, r *rig, page messages.TargetID) map[string]messages.FrameNode {
	t.Helper()
	c := chromiumtest.Dial(t, r.chrome.WS())
	defer c.Close()
	forest := map[string]messages.FrameNode{}
	type raw struct {
		Frame struct {
			ID, ParentID, URL, URLFragment, SecurityOrigin string
		}
		ChildFrames []json.RawMessage
	}
	var lay func(b json.RawMessage, oopif bool)
	lay = func(b json.RawMessage, oopif bool) {
		var f raw
		if err := json.Unmarshal(b, &f); err != nil {
			t.Fatal(err)
		}
		origin := f.Frame.SecurityOrigin
		if origin == "" || origin == "://" {
			origin = "null"
		}
		n := messages.FrameNode{
			FrameID: messages.FrameID(f.Frame.ID), ParentFrameID: messages.FrameID(f.Frame.ParentID),
			URL: f.Frame.URL + f.Frame.URLFragment, Origin: origin, IsOOPIF: oopif,
		}
		if old, ok := forest[f.Frame.ID]; !ok || oopif || !old.IsOOPIF {
			forest[f.Frame.ID] = n
		}
		for _, child := range f.ChildFrames {
			lay(child, false)
		}
	}
	todo := []string{c.Attach(string(page))}
	for i := 0; i < len(todo); i++ {
		session := todo[i]
		// A frame may go while it is being asked; it is then not asked for.
		if _, err := c.Call(session, "Target.setAutoAttach", map[string]any{"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true}); err != nil {
			continue
		}
		for _, e := range c.Events(chromiumtest.On(session, "Target.attachedToTarget")) {
			todo = append(todo, e.Param("sessionId"))
		}
		b, err := c.Call(session, "Page.getFrameTree", nil)
		if err != nil {
			continue
		}
		lay(json.RawMessage(chromiumtest.Field(b, "frameTree")), i > 0)
	}
	return forest
}

// published is the product's forest in the same form.
func (k *task) published() map[string]messages.FrameNode {
	k.Helper()
	tree := k.full()
	forest := map[string]messages.FrameNode{
		string(tree.Top.FrameID): {FrameID: tree.Top.FrameID, URL: tree.Top.URL, Origin: tree.Top.Origin},
	}
	for _, n := range tree.Children {
		if n.IsOOPIF != (n.SessionID != "") {
			k.Logf("out of process without a session: %+v", n)
		}
		n.SessionID = ""
		forest[string(n.FrameID)] = n
	}
	return forest
}

func TestC36_AfterAStormTheForestIsTheBrowsers(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, 2, 3} {
		t.Run("seed "+strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			k := setup(t).task("c36")
			k.goTo("http://a.test/plain")
			page := k.snapshot().PageTargetID
			roll := rand.New(rand.NewPCG(seed, 0))
			paths := []string{"/plain", "/oopif", "/same-origin", "/a-b-a", "/sandbox", "/nested-c", "/two-oopifs"}
			somewhere := func() string {
				return k.site.URL(fmt.Sprintf("http://%c.test%s", 'a'+rune(roll.IntN(4)), paths[roll.IntN(len(paths))]))
			}
			counts := map[string]int{}
			for range 120 {
				// In the page, or in one of the frames with a session of its own.
				where := []messages.FrameID{""}
				for _, n := range k.full().Children {
					if n.SessionID != "" {
						where = append(where, n.FrameID)
					}
				}
				in, nth := where[roll.IntN(len(where))], roll.IntN(5)
				var op, script string
				switch d := roll.IntN(10); {
				case d < 3 && len(where) < 25:
					op = "add"
					script = fmt.Sprintf("const f = document.createElement('iframe'); f.src = %q; document.documentElement.append(f)", somewhere())
				case d < 4:
					op = "add without a source"
					script = "document.documentElement.append(document.createElement('iframe'))"
				case d < 6:
					op = "remove"
					script = fmt.Sprintf("document.querySelectorAll('iframe')[%d]?.remove()", nth)
				case d < 9:
					op = "navigate"
					script = fmt.Sprintf("const f = document.querySelectorAll('iframe')[%d]; if (f) f.src = %q", nth, somewhere())
				default:
					op = "move the document"
					script = fmt.Sprintf("if (top !== window) location.href = %q", somewhere())
				}
				_, err := k.tryEval(in, "(() => { "+script+" })(); 0")
				switch messages.CodeOf(err) {
				case "":
					counts[op]++
				case messages.CodeFrameNotFound, messages.CodeFrameNotOOPIF, messages.CodeUpstreamUnavailable, messages.CodeCDPError, messages.CodeInternal:
					counts["too late"]++ // the frame went meanwhile
				default:
					t.Fatalf("%s in %q: %v", op, in, err)
				}
			}
			t.Logf("did %v", counts)
			if counts["add"] < 10 || counts["too late"] > 60 {
				t.Errorf("that is no storm: %v", counts)
			}
			k.settles(page)
		})
	}
}

// settles waits until the browser's forest stands still and is the published one.
func (k *task) settles(page messages.TargetID) {
	k.Helper()
	deadline := time.Now().Add(patience)
	last := truth(k.T, k.rig, page)
	for {
		now := truth(k.T, k.rig, page)
		still := cmp.Equal(last, now)
		diff := cmp.Diff(now, k.published())
		if still && diff == "" {
			k.Logf("%d frames", len(now))
			return
		}
		if time.Now().After(deadline) {
			k.Fatalf("the forests differ (-browser +published):\n%s", diff)
		}
		last = now
	}
}

func TestWatch_EachChangeHasTheNextVersion(t *testing.T) {
	t.Parallel()
	k := setup(t).task("watch")
	stream := k.watch()
	first := stream.seen[0]
	if first.Type != messages.EventReset || first.Snapshot == nil || first.Version != first.Snapshot.Version {
		t.Fatalf("first event %+v", first)
	}
	k.goTo("http://a.test/oopif-prompt")
	k.later(k.frame("/prompt").FrameID, "ask()")
	d := k.dialog()
	opened := stream.until("the dialog", func(e messages.Event) bool { return e.Type == messages.EventDialogOpened })
	if opened.Dialog == nil || *opened.Dialog != d {
		t.Errorf("event %+v, dialog %+v", opened.Dialog, d)
	}
	k.accept("x")
	k.eval("", "console.error('for the stream'); 0")
	stream.until("the error", func(e messages.Event) bool { return e.Type == messages.EventConsoleError })
	if err := k.node.StopTask(k.ctx, k.id); err != nil {
		t.Fatal(err)
	}
	stream.until("the end", func(e messages.Event) bool { return e.State == messages.StateStopped })
	if _, err := stream.stream.Next(k.ctx); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
	kinds := map[messages.EventType]bool{}
	for i, e := range stream.seen {
		kinds[e.Type] = true
		if e.TaskID != k.id || i > 0 && e.Version != stream.seen[i-1].Version+1 {
			t.Errorf("event %d: version %d of %s after %d", i, e.Version, e.TaskID, stream.seen[max(0, i-1)].Version)
		}
	}
	for _, typ := range []messages.EventType{
		messages.EventPageChanged, messages.EventFrames, messages.EventDialogOpened, messages.EventDialogClosed,
		messages.EventConsoleError, messages.EventTaskState,
	} {
		if !kinds[typ] {
			t.Errorf("no event %s", typ)
		}
	}
	if last := stream.seen[len(stream.seen)-1]; last.Version != k.snapshot().Version {
		t.Errorf("the last event is version %d, the snapshot %d", last.Version, k.snapshot().Version)
	}
}

// sseEvent is one server-sent event as a reader gets it.
type sseEvent struct {
	id, name string
	data     messages.Event
}

// read opens the event stream and reads until an event is as expected.
func (d *door) read(id messages.TaskID, lastEventID string, until func(sseEvent) bool) []sseEvent {
	d.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, patience)
	defer cancel()
	req := d.request("GET", "/v1/tasks/"+string(id)+"/events", "").WithContext(ctx)
	if lastEventID != "" {
		req.Header.Set("Last-Event-ID", lastEventID)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		d.Fatal(err)
	}
	defer res.Body.Close()
	if got := res.Header.Get("Content-Type"); res.StatusCode != http.StatusOK || got != "text/event-stream" {
		d.Fatalf("%d, %s", res.StatusCode, got)
	}
	var all []sseEvent
	var e sseEvent
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				d.Fatal(err)
			}
		case "":
			if e.name != "" && value == "" {
				all = append(all, e)
				if until(e) {
					return all
				}
			}
			e = sseEvent{}
		}
	}
	d.Fatalf("the stream ended after %d events: %v", len(all), lines.Err())
	return nil
}

func TestEvents_LastEventIDGivesExactlyWhatWasMissed(t *testing.T) {
	t.Parallel()
	k := setup(t).task("sse")
	k.goTo("http://a.test/confirm")
	door := k.door()
	head := door.read(k.id, "", func(sseEvent) bool { return true })
	if head[0].name != "reset" || head[0].data.Snapshot == nil || head[0].id != strconv.FormatUint(head[0].data.Version, 10) {
		t.Fatalf("a first reader gets %+v", head[0])
	}
	reader := k.watch()

	// While nobody reads over HTTP.
	for range 3 {
		k.later("", "ask()")
		k.dialog()
		k.respond(messages.DialogAnswer{Action: messages.ActionDismiss})
	}
	last := func(e messages.Event) bool { return e.Closed != nil && e.Closed.ID == "d-3" }
	reader.until("the third end", last)
	missed := door.read(k.id, head[0].id, func(e sseEvent) bool { return last(e.data) })

	var want, got []messages.Event
	for _, e := range reader.seen {
		if e.Version > head[0].data.Version && e.Version <= missed[len(missed)-1].data.Version {
			want = append(want, e)
		}
	}
	opened := 0
	for i, e := range missed {
		got = append(got, e.data)
		if e.name != string(e.data.Type) || e.id != strconv.FormatUint(e.data.Version, 10) || e.data.Version != head[0].data.Version+uint64(i)+1 {
			t.Errorf("event %d is %s %s %+v", i, e.id, e.name, e.data)
		}
		if e.data.Type == messages.EventDialogOpened {
			opened++
		}
	}
	if diff := cmp.Diff(mustJSON(t, want), mustJSON(t, got)); diff != "" {
		t.Errorf("missed and resumed differ: %s", diff)
	}
	if opened != 3 {
		t.Errorf("%d dialogs opened in the stream", opened)
	}

	t.Run("a version of the future is answered by a reset", func(t *testing.T) {
		if all := door.read(k.id, "99999999", func(sseEvent) bool { return true }); all[0].name != "reset" {
			t.Errorf("got %+v", all[0])
		}
	})
	t.Run("what is gone is answered by a reset", func(t *testing.T) {
		for n := 400; n <= 1200; n += 400 { // not all at once: a storm is shed
			k.eval("", fmt.Sprintf("for (let i = %d; i < %d; i++) console.error(i); 0", n-400, n))
			last := strconv.Itoa(n - 1)
			reader.until("error "+last, func(e messages.Event) bool { return e.Console != nil && e.Console.Text == last })
		}
		all := door.read(k.id, head[0].id, func(sseEvent) bool { return true })
		if all[0].name != "reset" || all[0].data.Snapshot == nil {
			t.Errorf("got %+v", all[0])
		}
	})
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
