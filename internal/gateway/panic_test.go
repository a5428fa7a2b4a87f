package gateway_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"holdfast/internal/gateway"
)

// failing is an observer whose fault stands for any on a client's reader.
type failing struct{ gateway.Observer }

func (failing) ClientCommand(int) { panic("what a page says") }

// TestAPanicEndsOneClient and leaves nothing of it. The log has no word of what may be a page's.
func TestAPanicEndsOneClient(t *testing.T) {
	t.Parallel()
	r := setup(t)
	var log strings.Builder
	g := gateway.New(gateway.Config{Node: r.node, Observer: failing{r.node.Metrics()}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	conn, err := g.Dial(r.ctx, "one", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	c := &client{rig: r, conn: conn}
	c.write(`{"id":1,"method":"Browser.getVersion"}`)
	if _, _, err := conn.Read(r.ctx); websocket.CloseStatus(err) != websocket.StatusInternalError {
		t.Errorf("the client reads %v", err)
	}
	g.Drain(r.ctx) // until it has gone
	if n := len(g.Clients("one").Clients); n != 0 {
		t.Errorf("%d clients are left", n)
	}
	if got := log.String(); !strings.Contains(got, "the gateway has failed for a client") || strings.Contains(got, "what a page says") {
		t.Error(got)
	}
	other := r.connect("/cdp/one")
	if m := other.call("", "Browser.getVersion", `{}`); m.Error != nil {
		t.Errorf("another client: %+v", m.Error)
	}
}
