package api_test

import (
	"bufio"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/internal/gate"
	"holdfast/messages"
)

// house is a server with room for a few connections.
type house struct {
	*bench
	inner  *pipeListener
	server *http.Server
	ended  chan struct{}
}

func newHouse(t *testing.T, room int, node *apitest.Node) *house {
	b := setup(t, node)
	h := &house{bench: b, inner: newPipeListener(), server: api.NewServer(b.handler, nil), ended: make(chan struct{})}
	go func() {
		defer close(h.ended)
		_ = h.server.Serve(gate.Limit(h.inner, room, b.failures))
	}()
	return h
}

func (h *house) close() {
	h.handler.CloseStreams()
	_ = h.server.Close()
	<-h.ended
}

// ask makes a request over the connection; 0 is none.
func (h *house) ask(c net.Conn, path, tok string) int {
	h.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://127.0.0.1:7070"+path, nil)
	if err != nil {
		h.Fatal(err)
	}
	if tok != "" {
		r.Header.Set("Authorization", "Bearer "+tok)
	}
	if r.Write(c) != nil {
		return 0
	}
	res, err := http.ReadResponse(bufio.NewReader(c), r)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// TestSecurity12_IdleConnectionsLockNoCallerOut: a further connection takes the place of
// the one that has been idle for longest, of those without a token first.
func TestSecurity12_IdleConnectionsLockNoCallerOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inside, leave := make(chan struct{}, 1), make(chan struct{})
		h := newHouse(t, 4, &apitest.Node{
			CDPFunc: func(messages.CDPRequest) (messages.CDPResult, error) { return messages.CDPResult{}, nil },
			SnapshotFunc: func(id messages.TaskID, _ messages.SnapshotOptions) (*messages.Snapshot, error) {
				if id == "slow" {
					inside <- struct{}{}
					<-leave
				}
				return apitest.Active(id), nil
			},
		})
		defer h.close()
		admin := h.admin.Reveal()
		trusted := h.inner.dial()
		if got := h.ask(trusted, "/v1/tasks", admin); got != 200 {
			t.Fatal(got)
		}
		busy := h.inner.dial()
		slow := make(chan int, 1)
		go func() { slow <- h.ask(busy, "/v1/tasks/slow", admin) }()
		<-inside
		// A flood of strangers, each with one request, and some with none.
		var flood []net.Conn
		for i := range 50 {
			c := h.inner.dial()
			flood = append(flood, c)
			if i%2 == 0 {
				if got := h.ask(c, "/livez", ""); got != 200 {
					t.Fatalf("stranger %d: %d", i, got)
				}
			}
			synctest.Wait()
		}
		if got := h.ask(h.inner.dial(), "/livez", ""); got != 200 {
			t.Errorf("liveness: %d", got)
		}
		if got := h.ask(trusted, "/v1/tasks", admin); got != 200 {
			t.Errorf("a connection with a token was closed before strangers: %d", got)
		}
		close(leave)
		if got := <-slow; got != 200 {
			t.Errorf("a request was cut: %d", got)
		}
		// Trusted ones go when there are no others, the oldest first.
		for range 4 {
			if got := h.ask(h.inner.dial(), "/v1/tasks", admin); got != 200 {
				t.Error(got)
			}
			synctest.Wait()
		}
		if got := h.ask(trusted, "/v1/tasks", admin); got != 0 {
			t.Error("there is room for more than was said")
		}
		for _, c := range flood {
			_ = c.Close()
		}
	})
}

// TestSecurity12_StrangersStayForTenSeconds, and others for two minutes.
func TestSecurity12_StrangersStayForTenSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, 4, &apitest.Node{})
		defer h.close()
		stranger, known := h.inner.dial(), h.inner.dial()
		for range 3 {
			if a, b := h.ask(stranger, "/livez", ""), h.ask(known, "/v1/tasks", h.admin.Reveal()); a != 200 || b != 200 {
				t.Fatal(a, b)
			}
			time.Sleep(9 * time.Second)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := h.ask(stranger, "/livez", ""); got != 0 {
			t.Errorf("the stranger is still there: %d", got)
		}
		time.Sleep(80 * time.Second)
		if got := h.ask(known, "/livez", ""); got != 200 {
			t.Errorf("the one with a token is not: %d", got)
		}
	})
}
