package node_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/internal/node"
	"holdfast/messages"
	"holdfast/transport"
)

// tardy makes each request take its time.
type tardy struct {
	http.RoundTripper
	by time.Duration
}

func (s tardy) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(s.by)
	return s.RoundTripper.RoundTrip(r)
}

func TestDialsWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	oneByOne := func(c *node.Config) {
		ownSockets(c)
		c.Dials = transport.RationLimits{Total: 1}
		c.HTTPClient = &http.Client{Transport: tardy{c.HTTPClient.Transport, 6 * time.Second}}
	}
	inWorldWith(t, "and the wait is not counted as dialling", chaos.Options{Pages: 1}, oneByOne, func(w *world) {
		var calls []<-chan outcome
		for _, id := range []messages.TaskID{"a", "b", "c"} {
			spec := w.spec()
			spec.Anchor = messages.AnchorNone
			calls = append(calls, begin(w, func(ctx context.Context) (*messages.Snapshot, error) {
				s, _, err := w.node.GetOrStart(ctx, id, spec)
				return s, err
			}))
		}
		for i, c := range calls { // a dial that took more than ten seconds would have failed
			got := <-c
			if want := time.Duration(i+1) * 6 * time.Second; got.err != nil || got.after != want {
				w.Errorf("task %d: %v after %s, want %s", i, got.err, got.after, want)
			}
		}
	})
}
