package node_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

func TestWhatLinksDidIsCounted(t *testing.T) {
	t.Parallel()

	inWorld(t, "an answer through the anchor, and what the primary went through", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		primary, _ := w.links()
		w.counts(`holdfast_upstream_connections{role="anchor"} 1`, `holdfast_anchor_off{reason="spec"} 0`)
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		w.snapshot("t")
		w.b.RefuseConnections(true)
		primary.Drop()
		synctest.Wait()
		if _, err := w.answer("t", "", "me"); err != nil {
			w.Fatal(err)
		}
		w.counts(`holdfast_anchor_promotions_total{result="answered"} 1`, `holdfast_anchor_promotions_total{result="failed"} 0`,
			`holdfast_upstream_reconnects_total{cause="dial",result="failed"} 1`)
		w.b.RefuseConnections(false)
		time.Sleep(20 * time.Second)
		w.counts(`holdfast_upstream_reconnects_total{cause="closed",result="ok"} 1`)

		// One that dies with the last link is none, and was not answered.
		primary, anchor := w.links()
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		w.snapshot("t")
		w.b.RefuseConnections(true)
		primary.Drop()
		synctest.Wait()
		anchor.Stall()
		answering := begin(w, func(context.Context) (messages.ClosedDialog, error) { return w.answer("t", "", "me") })
		anchor.Drop()
		w.want(messages.CodeUpstreamUnavailable, (<-answering).err) // written, and no link left to confirm it
		synctest.Wait()
		w.counts(`holdfast_anchor_promotions_total{result="answered"} 1`, `holdfast_anchor_promotions_total{result="failed"} 1`)
	})

	inWorld(t, "a task without one", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything, alone)
		w.counts(`holdfast_upstream_connections{role="anchor"} 0`, `holdfast_anchor_off{reason="spec"} 1`)
		if err := w.node.StopTask(w.ctx, "t"); err != nil {
			w.Fatal(err)
		}
		w.counts(`holdfast_anchor_off{reason="spec"} 0`)
	})
}

// counts looks for lines in what the node tells Prometheus.
func (w *world) counts(lines ...string) {
	w.Helper()
	out := httptest.NewRecorder()
	w.node.MetricsHandler().ServeHTTP(out, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, line := range lines {
		if !strings.Contains(out.Body.String(), "\n"+line+"\n") {
			w.Errorf("%s is missing", line)
		}
	}
}
