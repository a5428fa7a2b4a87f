package node_test

import (
	"testing"

	"holdfast/chaos"
	"holdfast/messages"
)

// X11: a watcher learns why the task ends, and a call that comes too late is told that it
// is the node, and not the task.
func TestStopTellsWhy(t *testing.T) {
	t.Parallel()
	inWorld(t, "the last event names the node", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t")
		events, err := w.node.Watch(w.ctx, "t", 0, false)
		if err != nil {
			w.Fatal(err)
		}
		defer events.Close()
		if _, err := events.Next(w.ctx); err != nil {
			w.Fatal(err)
		}
		if err := w.node.Stop(w.ctx); err != nil {
			w.Fatal(err)
		}
		var last messages.Event
		for {
			batch, err := events.Next(w.ctx)
			if err != nil {
				break
			}
			last = batch[len(batch)-1]
		}
		if last.State != messages.StateStopped || last.Reason != "the node is stopping" {
			w.Errorf("%+v", last)
		}
		if _, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Page.reload"}); messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
			w.Error(err)
		}
		if err := w.node.Abort(w.ctx); err != nil {
			w.Error("nothing is left to be killed:", err)
		}
	})
}
