package node_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"holdfast/chaos"
	"holdfast/internal/node"
	"holdfast/messages"
	"holdfast/transport"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a node and a fake browser in one synctest bubble: time passes only when every
// goroutine waits, so that every budget is exact.
type world struct {
	*testing.T
	b     *chaos.Browser
	node  *node.Node
	ctx   context.Context
	lines *lines
	// between, where set, sees every message that is sent, down to the browser or up from
	// it, and can delay it; false loses it. Set before a link is made.
	between func(down bool, message []byte) bool
	// others, where there are any, take the next connections, one each.
	others []*chaos.Browser
	// beside are further browsers of the same address, by path. Set before a link is made.
	beside map[string]*chaos.Browser
	// single drops the connected client for the next one; atMost, where not 0, refuses
	// clients beyond that number.
	single bool
	atMost int
}

// lines keeps what the node logs.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(substring string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), substring)
}

// inWorld runs story in a bubble of its own.
func inWorld(t *testing.T, name string, o chaos.Options, story func(w *world)) {
	inWorldWith(t, name, o, func(*node.Config) {}, story)
}

// inWorldWith is inWorld with a node whose config is changed.
func inWorldWith(t *testing.T, name string, o chaos.Options, change func(*node.Config), story func(w *world)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { story(open(t, o, change)) })
	})
}

// ownSockets gives each task its own connections to a browser that several share: one of
// them is broken, refused or slow in the story.
func ownSockets(c *node.Config) { c.ShareLinks = node.ShareLinksOff }

func open(t *testing.T, o chaos.Options, change ...func(*node.Config)) *world {
	t.Helper()
	w := &world{T: t, b: chaos.New(o), ctx: context.Background(), lines: &lines{}}
	listener := transport.NewPipeListener()
	server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case w.between != nil:
			w.relay(rw, r)
		case w.beside[r.URL.Path] != nil:
			w.beside[r.URL.Path].ServeHTTP(rw, r)
		case w.atMost > 0 && len(w.b.Connections()) >= w.atMost:
			http.Error(rw, "too many connections", http.StatusTooManyRequests)
		case len(w.others) > 0:
			b := w.others[0]
			w.others = w.others[1:]
			r.URL.Path = b.Path()
			b.ServeHTTP(rw, r)
		default:
			if w.single {
				go w.makeRoom(w.b.Connections(), w.b.Dials())
			}
			w.b.ServeHTTP(rw, r)
		}
	})}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		w.b.Close()
		for _, b := range w.beside {
			b.Close()
		}
		_ = server.Close()
		_ = listener.Close()
		served.Wait()
	})
	cfg := node.Config{
		StateDir: t.TempDir(), HTTPClient: listener.HTTPClient(), Seed: 1,
		Limits: node.Limits{MemoryHigh: -1}, // the load of the tests' machine does not count
		Log:    slog.New(slog.NewTextHandler(w.lines, nil)),
	}
	for _, c := range change {
		c(&cfg)
	}
	node, err := node.Start(w.ctx, cfg)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	w.node = node
	t.Cleanup(func() {
		if err := node.Stop(w.ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return w
}

// makeRoom drops the connections there are once another one stands.
func (w *world) makeRoom(old []*chaos.Conn, dials int) {
	for w.b.Dials() == dials {
		time.Sleep(time.Millisecond)
	}
	for _, c := range old {
		c.Drop()
	}
}

// relay is a proxy before the browser.
func (w *world) relay(rw http.ResponseWriter, r *http.Request) {
	near, err := websocket.Accept(rw, r, nil)
	if err != nil {
		return // Accept has answered
	}
	listener := transport.NewPipeListener()
	server := &http.Server{Handler: w.b}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(listener) })
	ctx, cancel := context.WithCancel(context.Background())
	far, _, err := websocket.Dial(ctx, "ws://127.0.0.1"+r.URL.Path, &websocket.DialOptions{HTTPClient: listener.HTTPClient()})
	if err == nil {
		pump := func(down bool, from, to *websocket.Conn) func() {
			return func() {
				defer cancel()
				for {
					typ, data, err := from.Read(ctx)
					if err != nil || w.between(down, data) && to.Write(ctx, typ, data) != nil {
						return
					}
				}
			}
		}
		var pumps sync.WaitGroup
		pumps.Go(pump(true, near, far))
		pumps.Go(pump(false, far, near))
		pumps.Wait()
		_ = far.CloseNow()
	}
	cancel()
	_ = near.CloseNow()
	_ = server.Close()
	_ = listener.Close()
	running.Wait()
}

func (w *world) spec() messages.TaskSpec { return messages.TaskSpec{CDPURL: w.url(w.b)} }

func (w *world) url(b *chaos.Browser) messages.CDPURL {
	u, err := messages.ParseCDPURL(b.URL("127.0.0.1:9222"))
	if err != nil {
		w.Fatal(err)
	}
	return u
}

// start starts a task and returns its snapshot.
func (w *world) start(id messages.TaskID, change ...func(*messages.TaskSpec)) *messages.Snapshot {
	w.Helper()
	spec := w.spec()
	for _, c := range change {
		c(&spec)
	}
	snap, _, err := w.node.GetOrStart(w.ctx, id, spec)
	if err != nil {
		w.Fatalf("start task %s: %v", id, err)
	}
	return snap
}

func (w *world) snapshot(id messages.TaskID) *messages.Snapshot {
	w.Helper()
	synctest.Wait()
	snap, err := w.node.Snapshot(id, messages.SnapshotOptions{})
	if err != nil {
		w.Fatalf("snapshot of %s: %v", id, err)
	}
	return snap
}

// outcome is what came of a call, and how long it took.
type outcome struct {
	value any
	err   error
	after time.Duration
}

// begin makes a call on a goroutine of its own.
func begin[T any](w *world, call func(context.Context) (T, error)) <-chan outcome {
	done := make(chan outcome, 1)
	began := time.Now()
	go func() {
		v, err := call(w.ctx)
		done <- outcome{v, err, time.Since(began)}
	}()
	synctest.Wait()
	return done
}

func (w *world) want(code messages.Code, err error) {
	w.Helper()
	if !errors.Is(err, &messages.Error{Code: code}) {
		w.Errorf("got %v, want %s", err, code)
	}
}

func own(s *messages.TaskSpec) { s.Scope = messages.ScopeOwn }

func everything(s *messages.TaskSpec) { s.Scope = messages.ScopeBrowser }

func alone(s *messages.TaskSpec) { s.Anchor = messages.AnchorNone }

// anchored asks for the second link again.
func anchored(s *messages.TaskSpec) { s.Anchor = messages.AnchorAuto }
