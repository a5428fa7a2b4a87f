package gateway_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"holdfast/internal/gateway"
	"holdfast/messages"
)

// TestClientsOfATaskThatMovesAreToldWhere: they are disconnected with the new address, those of
// other tasks are not, and a new one is sent away.
func TestClientsOfATaskThatMovesAreToldWhere(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ address, reason string }{
		"an address":        {"https://b.test:7070", "the task has moved to https://b.test:7070"},
		"one without place": {"https://" + strings.Repeat("b", 120), "the task has moved to another node"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := setup(t)
			one, other, keeper := r.connect("/cdp/one"), r.connect("/cdp/two"), r.connect("/cdp/one")
			keeper.field(keeper.call("", "Target.createBrowserContext", `{}`), "browserContextId") // keeps what they have in common
			r.gateway.Move("one", c.address)
			for _, moved := range []*client{one, keeper} {
				var frame websocket.CloseError
				if _, _, err := moved.conn.Read(r.ctx); !errors.As(err, &frame) || frame.Code != gateway.CloseMoved || frame.Reason != c.reason {
					t.Errorf("the client reads %v", err)
				}
			}
			if m := other.call("", "Browser.getVersion", `{}`); m.Error != nil {
				t.Errorf("a client of another task: %+v", m.Error)
			}
			if _, err := r.gateway.Dial(r.ctx, "one", nil); messages.CodeOf(err) != messages.CodeRehoming {
				t.Errorf("a new client gets %v", err)
			}
		})
	}
}
