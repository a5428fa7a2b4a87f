package node_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// A task's page holds the dialog of a frame that is gone (C15), and the primary falls
// before it has freed the page. The end of the task frees and closes it by the anchor.
func TestTheEndOfATaskThatWasAboutToFreeItsPage(t *testing.T) {
	t.Parallel()
	poisoned := func(w *world) (primary, anchor *chaos.Conn) {
		page := w.start("t", own).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		primary, anchor = w.links()
		w.b.OpenDialog(frame, chaos.Confirm, "sure?", "")
		w.snapshot("t")
		w.b.RemoveFrame(frame)
		if s := w.snapshot("t"); s.PageState != messages.PageDialogUnreachable {
			w.Fatalf("the page is %s", s.PageState)
		}
		w.b.RefuseConnections(true)
		return primary, anchor
	}
	closed := func(w *world) {
		w.Helper()
		synctest.Wait()
		if n := len(w.b.Pages()); n != 1 || w.b.IsDead() {
			w.Errorf("%d pages are left, want the user's one; dead %t", n, w.b.IsDead())
		}
	}
	inWorld(t, "takes no longer than it takes", chaos.Options{Pages: 1}, func(w *world) {
		primary, _ := poisoned(w)
		primary.Drop()
		synctest.Wait() // an anchor that has left before this is heard can close nothing
		stopped := begin(w, func(ctx context.Context) (struct{}, error) { return struct{}{}, w.node.StopTask(ctx, "t") })
		if got := <-stopped; got.err != nil || got.after > 100*time.Millisecond {
			w.Errorf("stop: %+v", got)
		}
		closed(w)
	})
	inWorld(t, "closes it as well when it would have been freed meanwhile", chaos.Options{Pages: 1}, func(w *world) {
		primary, anchor := poisoned(w)
		primary.Drop()
		synctest.Wait()
		anchor.Stall()
		stopped := begin(w, func(ctx context.Context) (struct{}, error) { return struct{}{}, w.node.StopTask(ctx, "t") })
		time.Sleep(500 * time.Millisecond)
		anchor.Resume()
		if got := <-stopped; got.err != nil || got.after > time.Second {
			w.Errorf("stop: %+v", got)
		}
		closed(w)
	})
	inWorld(t, "does so on a slow browser, too", chaos.Options{Pages: 1}, func(w *world) {
		primary, anchor := poisoned(w)
		anchor.DelayReplies("Target.createTarget", 2*time.Second)
		primary.Drop()
		synctest.Wait()
		if err := w.node.StopTask(w.ctx, "t"); err != nil {
			w.Errorf("stop: %v", err)
		}
		closed(w)
	})
}
