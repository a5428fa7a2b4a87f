package acceptance_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

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
