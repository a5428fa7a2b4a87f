package node_test

import (
	"context"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// A page that is closed while a frame of another process asks ends the browser, if any
// client is attached to it (C15): also one of another task.
func TestAPageThatOthersLookAtIsClosedSafely(t *testing.T) {
	t.Parallel()
	asking := func(w *world, id messages.TaskID) (messages.TargetID, *chaos.Dialog) {
		page := w.start(id, own).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		w.snapshot(id)
		return page, w.b.OpenDialog(frame, chaos.Confirm, "sure?", "")
	}
	has := func(w *world, page messages.TargetID) bool {
		for _, p := range w.b.Pages() {
			if p.Target == page {
				return true
			}
		}
		return false
	}

	inWorld(t, "by the order to", chaos.Options{Pages: 1}, func(w *world) {
		w.start("other", everything, alone)
		page, _ := asking(w, "t")
		w.snapshot("t")
		params := []byte(`{"targetId":"` + string(page) + `"}`)
		_, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Target.closeTarget", Params: params})
		w.want(messages.CodePageWedged, err)
		if w.b.IsDead() || !has(w, page) {
			w.Fatal("the page was closed all the same")
		}
		if err := w.node.StopTask(w.ctx, "other"); err != nil {
			w.Fatal(err)
		}
		if _, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Target.closeTarget", Params: params}); err != nil {
			w.Error(err)
		}
		if w.snapshot("t"); w.b.IsDead() || has(w, page) {
			w.Errorf("dead %v, pages %+v", w.b.IsDead(), w.b.Pages())
		}
	})

	inWorld(t, "at the end of the task, with a dialog that nobody can answer", chaos.Options{Pages: 1}, func(w *world) {
		w.start("other", own, alone)
		page, d := asking(w, "t")
		w.snapshot("t")
		w.b.DropConnections()
		w.becomes(page, messages.PageDialogUnreachable, 5*time.Second)
		others := w.start("third", everything, alone) // which is on the page when the end begins
		stopped := begin(w, func(ctx context.Context) (struct{}, error) { return struct{}{}, w.node.StopTask(ctx, "t") })
		time.Sleep(200 * time.Millisecond)
		if err := w.node.StopTask(w.ctx, others.TaskID); err != nil {
			w.Fatal(err)
		}
		if got := <-stopped; got.err != nil || got.after > 2*time.Second {
			w.Errorf("stop: %+v", got)
		}
		w.snapshot("other")
		if w.b.IsDead() || has(w, page) {
			w.Errorf("dead %v, pages %+v", w.b.IsDead(), w.b.Pages())
		}
		if _, closed := d.Result(); !closed {
			w.Error("the dialog stands")
		}
		if n := len(w.b.Pages()); n != 2 {
			w.Errorf("%d pages, want the user's and the other task's: %+v", n, w.b.Pages())
		}
	})
}
