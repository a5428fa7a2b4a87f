package prometheus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"holdfast/chaos"
	"holdfast/internal/api"
	"holdfast/internal/gate"
	"holdfast/internal/node"
	"holdfast/internal/token"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// places is how many tasks the node may run at once.
const places = 10

// world is a node on real sockets, behind its HTTP interface, and fake browsers.
type world struct {
	*testing.T
	node  *node.Node
	front *httptest.Server
	token token.Admin

	mu       sync.Mutex
	browsers map[string]*chaos.Browser // by path
	back     *httptest.Server
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, token: token.Generate(), browsers: map[string]*chaos.Browser{}}
	w.back = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		b := w.browsers[r.URL.Path]
		w.mu.Unlock()
		if b == nil {
			http.NotFound(rw, r)
			return
		}
		b.ServeHTTP(rw, r)
	}))
	node, err := node.Start(t.Context(), node.Config{
		StateDir: t.TempDir(), AllowChaos: true, Seed: 1, Log: slog.New(slog.DiscardHandler),
		Limits: node.Limits{MaxTasks: places, MaxBrowsers: 1, QueueLength: -1, MemoryHigh: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.node = node
	entrance, err := gate.New(gate.Config{Token: w.token, Observer: node.Metrics()})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := api.New(api.Config{Node: node, Gate: entrance, Metrics: node.MetricsHandler(), Observer: node.Metrics()})
	if err != nil {
		t.Fatal(err)
	}
	w.front = httptest.NewServer(handler)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := node.Stop(ctx); err != nil {
			t.Error(err)
		}
		for _, b := range w.browsers {
			b.Close()
		}
		w.back.Close()
		handler.CloseStreams()
		w.front.Close()
	})
	return w
}

func (w *world) address() string { return strings.TrimPrefix(w.front.URL, "http://") }

// fake makes a fake browser and the spec of a task on it.
func (w *world) fake(seed uint64) (*chaos.Browser, messages.TaskSpec) {
	w.Helper()
	b := chaos.New(chaos.Options{Seed: seed, Pages: 1})
	w.mu.Lock()
	w.browsers[b.Path()] = b
	w.mu.Unlock()
	return b, w.at(b.URL(strings.TrimPrefix(w.back.URL, "http://")))
}

func (w *world) at(address string) messages.TaskSpec {
	w.Helper()
	u, err := messages.ParseCDPURL(address)
	if err != nil {
		w.Fatal(err)
	}
	return messages.TaskSpec{CDPURL: u, Scope: messages.ScopeBrowser}
}

// task is one task and its browser, which is nil for a real one.
type task struct {
	*world
	id      messages.TaskID
	browser *chaos.Browser
}

func (w *world) start(id string, spec messages.TaskSpec, b *chaos.Browser) *task {
	w.Helper()
	k := &task{w, messages.TaskID(id), b}
	if _, _, err := w.node.GetOrStart(w.Context(), k.id, spec); err != nil {
		w.Fatalf("start %s: %v", id, err)
	}
	return k
}

// wholeTask is a task on a fake browser of its own, with both links up.
func (w *world) wholeTask(n int) *task {
	w.Helper()
	b, spec := w.fake(uint64(n))
	k := w.start(fmt.Sprint("task-", n), spec, b)
	k.whole(0)
	return k
}

// await waits for a snapshot that shows what is expected, by watching.
func (k *task) await(what string, ok func(*messages.Snapshot) bool) *messages.Snapshot {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.Context(), patience)
	defer cancel()
	watch, err := k.node.Watch(ctx, k.id, 0, false)
	if err != nil {
		k.Fatal(err)
	}
	defer watch.Close()
	for {
		s, err := k.node.Snapshot(k.id, messages.SnapshotOptions{})
		if err != nil {
			k.Fatal(err)
		}
		if ok(s) {
			return s
		}
		if _, err := watch.Next(ctx); err != nil {
			shown, _ := json.Marshal(s)
			k.Fatalf("%s: %s did not come: %v; now %s", k.id, what, err, shown)
		}
	}
}

// whole waits until the task is as good as new, after so many reconnects.
func (k *task) whole(reconnects uint64) {
	k.Helper()
	k.await("a whole task", func(s *messages.Snapshot) bool {
		return s.State == messages.StateActive && s.Connection.Reconnects == reconnects &&
			s.Connection.Primary == messages.LinkUp && s.Connection.Anchor == messages.LinkUp
	})
}

// kill breaks the primary link and waits until the task is whole again.
func (k *task) kill() {
	k.Helper()
	before, err := k.node.Snapshot(k.id, messages.SnapshotOptions{})
	if err != nil {
		k.Fatal(err)
	}
	if _, err := k.node.Kill(k.Context(), k.id, messages.LinksPrimary); err != nil {
		k.Fatal(err)
	}
	k.whole(before.Connection.Reconnects + 1)
}

// open has the page ask something, and waits until that shows.
func (k *task) open(kind chaos.DialogType) messages.Dialog {
	k.Helper()
	page := k.browser.Pages()[0].Target
	if k.browser.OpenDialog(k.browser.MainFrame(page), kind, "?", "") == nil {
		k.Fatal("there is no such frame")
	}
	return k.pending()
}

func (k *task) pending() messages.Dialog {
	k.Helper()
	return k.await("a dialog", func(s *messages.Snapshot) bool { return len(s.PendingDialogs) == 1 }).PendingDialogs[0]
}

func (k *task) answer(d messages.Dialog) {
	k.Helper()
	if _, err := k.node.Respond(k.Context(), k.id, messages.DialogAnswer{Action: messages.ActionAccept, DialogID: d.ID}); err != nil {
		k.Fatal(err)
	}
}

func (k *task) stop() {
	k.Helper()
	if err := k.node.StopTask(k.Context(), k.id); err != nil {
		k.Fatal(err)
	}
}

// refused wants an error of that code.
func (w *world) refused(err error, code messages.Code) {
	w.Helper()
	if !errors.Is(err, &messages.Error{Code: code}) {
		w.Fatalf("got %v, want %s", err, code)
	}
}

// get makes a request and returns its status and body.
func (w *world) get(path string, authorized bool) (int, string) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.front.URL+path, nil)
	if err != nil {
		w.Fatal(err)
	}
	if authorized {
		r.Header.Set("Authorization", "Bearer "+w.token.Reveal())
	}
	resp, err := w.front.Client().Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
