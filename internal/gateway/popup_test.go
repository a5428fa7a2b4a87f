package gateway

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"holdfast/internal/gateway/memory"
	"holdfast/internal/gateway/view"
	"holdfast/messages"
	"holdfast/transport"
)

// wire is a browser's end of a link: a test reads the commands and writes the replies.
type wire struct {
	sent, told chan []byte
	closed     chan struct{}
}

func newWire() *wire {
	return &wire{sent: make(chan []byte, 8), told: make(chan []byte, 8), closed: make(chan struct{})}
}

func (w *wire) Reader(ctx context.Context) (websocket.MessageType, io.Reader, error) {
	select {
	case msg := <-w.told:
		return websocket.MessageText, bytes.NewReader(msg), nil
	case <-w.closed:
		return 0, nil, io.EOF
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
}

func (w *wire) Write(_ context.Context, _ websocket.MessageType, msg []byte) error {
	w.sent <- append([]byte(nil), msg...)
	return nil
}

func (w *wire) Ping(context.Context) error { return nil }

func (w *wire) CloseNow() error {
	close(w.closed)
	return nil
}

// resumes is a node that notes when clients have seen a popup.
type resumes struct {
	Node
	at chan time.Duration
	t0 time.Time
}

func (n *resumes) HoldPopups(messages.TaskID, bool) {}

func (n *resumes) PopupSeen(messages.TaskID, messages.TargetID) {
	n.at <- time.Since(n.t0)
}

// TestAPopupRunsBehindWhatClientsHaveSet: the page's reply to being resumed stands behind those
// to all that was set before. A page that replies to nothing while it is held does not wait long.
func TestAPopupRunsBehindWhatClientsHaveSet(t *testing.T) {
	t.Parallel()
	for what, hasReply := range map[string]bool{"a page that replies": true, "a page that does not": false} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, node := newWire(), &resumes{at: make(chan time.Duration, 2), t0: time.Now()}
				link := transport.NewMux(w, "", transport.DialOptions{KeepAlive: -1})
				defer func() { link.Close(); <-link.Closed() }()
				h := newHub(New(Config{Node: node}), "one", nil)
				c := newClient(h, Options{})
				c.view, c.link, c.browser = view.New(view.Config{}), link, &session{isUp: true, link: "R", memory: memory.NewSession("R")}
				c.step(view.Attached{Session: "S", Target: view.Target{ID: "P", Type: "page"}, Params: []byte(`{}`)})
				h.hold(c, true)
				h.mu.Lock()
				h.holdPageLocked("P")
				h.mu.Unlock()
				c.hasTaken([]byte(`{"id":1,"method":"Runtime.runIfWaitingForDebugger","sessionId":"S"}`))
				sent := string(<-w.sent)
				time.Sleep(resumeGrace / 2)
				synctest.Wait()
				if len(node.at) > 0 {
					t.Fatal("it runs at once")
				}
				want := resumeGrace
				if hasReply {
					want = resumeGrace / 2
					var id int
					if _, err := fmt.Sscanf(strings.TrimPrefix(sent, `{"id":`), "%d", &id); err != nil {
						t.Fatal(sent, err)
					}
					w.told <- fmt.Appendf(nil, `{"id":%d,"result":{},"sessionId":"S"}`, id)
				}
				time.Sleep(resumeGrace)
				synctest.Wait()
				if got := <-node.at; got != want || len(node.at) > 0 {
					t.Errorf("it runs after %v, want %v, and %d times more", got, want, len(node.at))
				}
			})
		})
	}
}
