package gateway_test

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// series reads the node's metrics until each of want is among them.
func (r *rig) series(want ...string) {
	r.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		w := httptest.NewRecorder()
		r.node.MetricsHandler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		missing := ""
		for _, line := range want {
			if !strings.Contains("\n"+w.Body.String(), "\n"+line+"\n") {
				missing = line
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			r.Fatalf("the metrics do not have %s", missing)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestClientsAreCounted(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.series(`holdfast_clients 0`, `holdfast_client_dropped_events_total 0`, `holdfast_client_stall_seconds_count 0`)
	c := r.connect("/cdp/one")
	r.series(`holdfast_clients 1`)
	if _, err := r.dial(r.ctx, "/cdp/one?mode=exclusive"); err == nil {
		t.Fatal("a second client has the task exclusively")
	}
	const sent = `{"id":1,"method":"Target.setDiscoverTargets","params":{"discover":true}}`
	c.write(sent)
	told := 0
	for replied := false; !replied; told++ {
		replied = c.read().ID != nil
	}
	r.series(
		`holdfast_client_rejections_total{reason="busy"} 1`,
		`holdfast_cdp_messages_total{direction="in",kind="command",leg="downstream"} 1`,
		`holdfast_cdp_messages_total{direction="out",kind="reply",leg="downstream"} 1`,
		`holdfast_cdp_messages_total{direction="out",kind="event",leg="downstream"} `+strconv.Itoa(told-1),
		`holdfast_cdp_bytes_total{direction="in",kind="command",leg="downstream"} `+strconv.Itoa(len(sent)),
	)
	_ = c.conn.CloseNow()
	r.series(`holdfast_clients 0`)
}
