package node_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/internal/guard"
	"holdfast/internal/node"
	"holdfast/messages"
)

// failing has the next actor of a session panic in what it receives, when told to.
type failing struct{ armed atomic.Bool }

func (f *failing) config(c *node.Config) { breaking(&f.armed, "session", guard.PhaseReceive)(c) }

// fail has an actor of a session fail at an error of the page.
func (f *failing) fail(w *world, frame messages.FrameID) {
	w.Helper()
	f.armed.Store(true)
	w.b.LogError(frame, "boo")
	time.Sleep(time.Second)
	synctest.Wait()
	if f.armed.Load() {
		w.Fatal("no actor has failed")
	}
}

// TestAFailedSession is given up, and its page attached to anew.
func TestAFailedSession(t *testing.T) {
	t.Parallel()
	const lost, restarts = "holdfast_dialogs_lost_by_fault_total", `holdfast_actor_restarts_total{kind="session"}`

	var f1 failing
	inWorldWith(t, "the anchor keeps the dialog answerable", chaos.Options{Pages: 1}, f1.config, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.links()
		before := w.snapshot("t").Pages[0].SessionID
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		id := w.snapshot("t").PendingDialogs[0].ID
		f1.fail(w, w.b.MainFrame(page))
		s := w.snapshot("t")
		if after := s.Pages[0].SessionID; after == "" || after == before {
			w.Errorf("session %q, before %q", after, before)
		}
		if len(s.PendingDialogs) != 1 || s.PendingDialogs[0].ID != id || s.Connection.Reconnects != 0 {
			w.Fatalf("pending %+v, connection %+v", s.PendingDialogs, s.Connection)
		}
		if _, err := w.answer("t", id, "me"); err != nil {
			w.Fatal(err)
		}
		if r, over := d.Result(); !over || r.Text != "me" {
			w.Errorf("the page got %+v", r)
		}
		if n, m := w.metric(lost), w.metric(restarts); n != 0 || m != 0 {
			w.Errorf("%d dialogs lost, %d actors restarted", n, m)
		}
	})

	var f2 failing
	inWorldWith(t, "without an anchor the dialog is lost, which is named and counted, and a release frees the page", chaos.Options{Pages: 1}, f2.config, func(w *world) {
		page := w.start("t", everything, alone).PageTargetID
		events, err := w.node.Watch(w.ctx, "t", w.snapshot("t").Version, false)
		if err != nil {
			w.Fatal(err)
		}
		defer events.Close()
		reasons := make(chan string, 1)
		go func() {
			for {
				list, err := events.Next(w.ctx)
				if err != nil {
					return
				}
				for _, e := range list {
					if e.Type == messages.EventDialogClosed {
						reasons <- e.Reason
						return
					}
				}
			}
		}()
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
		synctest.Wait()
		f2.fail(w, w.b.MainFrame(page))
		if s := w.snapshot("t"); len(s.PendingDialogs) != 0 || s.RecentDialogs[0].ClosedBy != messages.ClosedByLost || s.PageState != messages.PageDialogUnreachable {
			w.Fatalf("pending %+v, recent %+v, page %s", s.PendingDialogs, s.RecentDialogs, s.PageState)
		}
		if reason := <-reasons; reason != messages.ReasonSessionFailed {
			w.Errorf("reason %q", reason)
		}
		if n := w.metric(lost); n != 1 {
			w.Errorf("%d lost", n)
		}
		if _, err := w.recover(messages.RecoverRelease); err != nil {
			w.Fatal(err)
		}
		if _, over := d.Result(); !over {
			w.Error("the page was not freed")
		}
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "again?", "")
		synctest.Wait()
		if _, err := w.answer("t", "", "me"); err != nil {
			w.Error(err)
		}
	})

	for name, change := range map[string]func(*messages.TaskSpec){"with an anchor": anchored, "without one": alone} {
		var f3 failing
		inWorldWith(t, "it leaves no page with a doomed dialog (C58), "+name, chaos.Options{Pages: 1}, f3.config, func(w *world) {
			page := w.start("t", everything, change).PageTargetID
			w.b.Navigate(page, "http://a.test/")
			time.Sleep(time.Second)
			synctest.Wait()
			f3.armed.Store(true)
			if w.b.OpenDoomedDialog(page, "http://a.test/next", chaos.Confirm, "saved", "") == nil {
				w.Fatal("no dialog opened")
			}
			time.Sleep(5 * time.Second)
			if f3.armed.Load() || w.b.IsDead() {
				w.Fatalf("armed %t, browser dead %t", f3.armed.Load(), w.b.IsDead())
			}
			w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "still there?", "")
			synctest.Wait()
			if _, err := w.answer("t", "", "yes"); err != nil || w.b.Pages()[0].URL != "http://a.test/next" {
				w.Errorf("%v, at %s", err, w.b.Pages()[0].URL)
			}
		})
	}

	var f4 failing
	inWorldWith(t, "a frame that was removed meanwhile is gone from the tree, and one that is there stays", chaos.Options{Pages: 1}, f4.config, func(w *world) {
		page := w.start("t", everything).PageTargetID
		gone := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/")
		there := w.b.AddFrame(w.b.MainFrame(page), "http://c.test/")
		if s := w.snapshot("t"); len(s.FrameTree.Children) != 2 {
			w.Fatalf("frames %+v", s.FrameTree)
		}
		f4.armed.Store(true)
		w.b.RemoveFrame(gone)
		time.Sleep(time.Second)
		s := w.snapshot("t")
		if f4.armed.Load() || len(s.FrameTree.Children) != 1 || s.FrameTree.Children[0].FrameID != there || s.FrameTree.Children[0].SessionID == "" {
			w.Errorf("armed %t, frames %+v", f4.armed.Load(), s.FrameTree)
		}
	})

	var f5 failing
	inWorldWith(t, "one that fails over and over ends its task", chaos.Options{Pages: 1}, f5.config, func(w *world) {
		page := w.start("t", everything).PageTargetID
		for n := range 21 {
			if s := w.snapshot("t"); !s.Active {
				w.Fatalf("%s after %d failures", s.State, n)
			}
			f5.fail(w, w.b.MainFrame(page))
		}
		time.Sleep(5 * time.Second)
		if s := w.snapshot("t"); s.State != messages.StateLost {
			w.Errorf("%s", s.State)
		}
		if n := w.metric(`holdfast_actor_restart_budget_exhausted_total{kind="session"}`); n != 1 {
			w.Errorf("counted %d times", n)
		}
	})
}
