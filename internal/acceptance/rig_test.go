package acceptance_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/node"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(chromiumtest.Main(m)) }

// patience is how long what must happen may take on a loaded machine.
const patience = 20 * time.Second

// rig is one node on one browser with pages to visit.
type rig struct {
	*testing.T
	node   *node.Node
	site   *chromiumtest.Site
	chrome *chromiumtest.Browser
	log    *logs
	ctx    context.Context
	// service is where the browser is hosted, and entry a task's address of it; nil for one
	// that is reached directly.
	service *hostedBrowser
	entry   *entry
}

// logs keeps what the node writes.
type logs struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// lines counts the lines that mention all of words.
func (l *logs) lines(words ...string) int {
	n := 0
next:
	for line := range strings.Lines(l.String()) {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue next
			}
		}
		n++
	}
	return n
}

// setup is a node beside the shared browser.
func setup(t *testing.T) *rig {
	if h := hostedFor(t); h != nil {
		return h.setup(t)
	}
	return setupOn(t, chromiumtest.Shared(t))
}

// alone is setup with a browser of the row's own, behind the same kind of service: for
// rows that other tasks of the browser would disturb, or be disturbed by.
func alone(t *testing.T) *rig {
	if h := hostedFor(t); h != nil {
		return host(t, h.options).setup(t)
	}
	return setupOn(t, chromiumtest.Launch(t))
}

// setupOn is a node beside a browser of its own.
func setupOn(t *testing.T, b *chromiumtest.Browser, change ...func(*node.Config)) *rig {
	t.Helper()
	r := &rig{T: t, site: chromiumtest.Serve(t), chrome: b, log: &logs{}}
	r.begin()
	cfg := node.Config{
		StateDir: t.TempDir(),
		Log:      slog.New(slog.NewTextHandler(io.MultiWriter(r.log, testWriter{t}), nil)),
	}
	for _, c := range change {
		c(&cfg)
	}
	node, err := node.Start(r.ctx, cfg)
	if err != nil {
		t.Fatalf("start the node: %v", err)
	}
	r.node = node
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := node.Stop(ctx); err != nil {
			t.Errorf("stop the node: %v", err)
		}
	})
	return r
}

// rowTime bounds one row.
const rowTime = 2 * time.Minute

// begin has the row's time begin.
func (r *rig) begin() {
	ctx, cancel := context.WithTimeout(context.Background(), rowTime)
	r.Cleanup(cancel)
	r.ctx = ctx
}

// row is the rig for one of several rows that share its node and browser. It may wait long for its
// turn, so its time begins with it.
func (r *rig) row(t *testing.T) *rig {
	own := *r
	own.T = t
	own.begin()
	return &own
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

// oneLink leaves a task without its anchor, for tests that count connections.
func oneLink(s *messages.TaskSpec) { s.Anchor = messages.AnchorNone }

// spec attaches to the rig's browser.
func (r *rig) spec() messages.TaskSpec {
	switch {
	case r.entry != nil:
		return messages.TaskSpec{CDPURL: r.entry.endpoint(r.T)}
	case r.service != nil:
		r.Fatal("an address is a task's: ask it for its spec")
	}
	return messages.TaskSpec{CDPURL: r.chrome.Endpoint()}
}

// task starts a task on the rig's browser and returns the hold on it.
func (r *rig) task(id messages.TaskID, change ...func(*messages.TaskSpec)) *task {
	r.Helper()
	own := *r
	if r.service != nil {
		own.entry = r.service.open() // each has an address of its own, as services give them out
	}
	spec := own.spec()
	if r.bridged() {
		spec.Bridge = messages.BridgeOn
	}
	for _, c := range change {
		c(&spec)
	}
	if _, _, err := r.node.GetOrStart(r.ctx, id, spec); err != nil {
		r.Fatalf("start task %s: %v", id, err)
	}
	k := &task{&own, id}
	if own.entry != nil && r.byRequests() && spec.Bridge == messages.BridgeOn {
		// It has to find out first that there is no debugger; a dialog before that is native.
		k.await("the bridge", func(s *messages.Snapshot) bool {
			return s.Connection.BridgeBy == "request" && len(s.Pages) > 0 && s.Pages[0].Bridge == messages.BridgeOn
		})
	}
	return k
}

type task struct {
	*rig
	id messages.TaskID
}

func (k *task) snapshot() *messages.Snapshot {
	k.Helper()
	s, err := k.node.Snapshot(k.id, messages.SnapshotOptions{})
	if err != nil {
		k.Fatalf("snapshot: %v", err)
	}
	return s
}

// await waits for a snapshot that shows what is expected, by watching: no
// polling, no sleeping.
func (k *task) await(what string, ok func(*messages.Snapshot) bool) *messages.Snapshot {
	k.Helper()
	return k.awaitFor(patience, what, ok)
}

// awaitFor is await for what takes its time.
func (k *task) awaitFor(d time.Duration, what string, ok func(*messages.Snapshot) bool) *messages.Snapshot {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, d)
	defer cancel()
	w, err := k.node.Watch(ctx, k.id, 0, false)
	if err != nil {
		k.Fatalf("watch: %v", err)
	}
	defer w.Close()
	for {
		if s := k.snapshot(); ok(s) {
			return s
		}
		if _, err := w.Next(ctx); err != nil {
			b, _ := json.MarshalIndent(k.snapshot(), "", "  ")
			k.Fatalf("%s: did not come (%v); now:\n%s", what, err, b)
		}
	}
}

// dialog waits for the only pending dialog.
func (k *task) dialog() messages.Dialog {
	k.Helper()
	return k.await("one pending dialog", func(s *messages.Snapshot) bool { return len(s.PendingDialogs) == 1 }).PendingDialogs[0]
}

func (k *task) closed(id messages.DialogID) messages.ClosedDialog {
	k.Helper()
	var found messages.ClosedDialog
	k.await("dialog "+string(id)+" in history", func(s *messages.Snapshot) bool {
		for _, c := range s.RecentDialogs {
			if c.ID == id {
				found = c
				return true
			}
		}
		return false
	})
	return found
}

// goTo navigates and waits for the load.
func (k *task) goTo(path string) {
	k.Helper()
	if _, err := k.node.Navigate(k.ctx, k.id, messages.NavigateRequest{URL: k.site.URL(path), TimeoutS: patience.Seconds()}); err != nil {
		k.Fatalf("navigate to %s: %v", path, err)
	}
}

// cdp runs a raw command that must succeed.
func (k *task) cdp(frame messages.FrameID, method, params string) json.RawMessage {
	k.Helper()
	res, err := k.node.CDP(k.ctx, k.id, messages.CDPRequest{Method: method, Params: json.RawMessage(params), FrameID: frame, TimeoutS: patience.Seconds()})
	if err != nil {
		k.Fatalf("%s: %v", method, err)
	}
	return res.Result
}

// eval evaluates an expression in a frame ("": the page) and returns its JSON.
func (k *task) eval(frame messages.FrameID, expression string) string {
	k.Helper()
	v, err := evalOn(k.ctx, k.node, k.id, messages.CDPRequest{FrameID: frame, TimeoutS: patience.Seconds()}, expression)
	if err != nil {
		k.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

func (k *task) tryEval(frame messages.FrameID, expression string) (string, error) {
	return evalOn(k.ctx, k.node, k.id, messages.CDPRequest{FrameID: frame}, expression)
}

func evalOn(ctx context.Context, n *node.Node, id messages.TaskID, req messages.CDPRequest, expression string) (string, error) {
	params, err := json.Marshal(map[string]any{"expression": expression, "returnByValue": true, "userGesture": true})
	if err != nil {
		return "", err
	}
	req.Method, req.Params = "Runtime.evaluate", params
	res, err := n.CDP(ctx, id, req)
	if err != nil {
		return "", err
	}
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(res.Result, &r); err != nil {
		return "", err
	}
	if r.Exception != nil {
		return "", messages.Errorf(messages.CodeInternal, "exception: %s", r.Exception)
	}
	if r.Result.Value == nil {
		return "undefined", nil
	}
	return string(r.Result.Value), nil
}

// later runs a script soon, so that the command returns before the script has
// opened a dialog.
func (k *task) later(frame messages.FrameID, script string) {
	k.Helper()
	k.eval(frame, "setTimeout(() => {"+script+"}, 0); 0")
}

// frame waits for the frame whose URL ends with suffix.
func (k *task) frame(suffix string) messages.FrameNode {
	k.Helper()
	var found messages.FrameNode
	k.await("a frame at "+suffix, func(s *messages.Snapshot) bool {
		if s.FrameTree == nil {
			return false
		}
		for _, c := range s.FrameTree.Children {
			if strings.HasSuffix(c.URL, suffix) && (!c.IsOOPIF || c.SessionID != "") {
				found = c
				return true
			}
		}
		return false
	})
	return found
}

func wantCode(t *testing.T, err error, code messages.Code) *messages.Error {
	t.Helper()
	if got := messages.CodeOf(err); got != code {
		t.Fatalf("got %v, want code %s", err, code)
	}
	e, _ := err.(*messages.Error)
	return e
}

func text(s string) *string { return &s }
