package node_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/chaos"
	"holdfast/internal/guard"
	"holdfast/messages"
)

func bridged(s *messages.TaskSpec) { s.Bridge = messages.BridgeOn }

// without drops the primary for good.
func (w *world) without() {
	w.Helper()
	primary, _ := w.links()
	w.b.RefuseConnections(true)
	primary.Drop()
	synctest.Wait()
}

func TestBridgeWithOnlyTheAnchor(t *testing.T) {
	t.Parallel()

	inWorld(t, "a renderer that takes a crashed one's place asks, and is answered", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything, bridged).PageTargetID
		w.without()
		w.b.Crash(page)
		synctest.Wait()
		w.b.Navigate(page, "http://a.test/p")
		time.Sleep(time.Second)
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		s := w.snapshot("t")
		if !d.IsBridged() || len(s.PendingDialogs) != 1 {
			r, _ := d.Result()
			w.Fatalf("bridged %t, pending %+v, the page got %+v", d.IsBridged(), s.PendingDialogs, r)
		}
		if _, err := w.answer("t", s.PendingDialogs[0].ID, "me"); err != nil {
			w.Fatal(err)
		}
		if r, ok := d.Result(); !ok || r.Text != "me" {
			w.Errorf("the page got %+v", r)
		}
	})

	inWorld(t, "what waited in a renderer that crashes is over", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything, bridged).PageTargetID
		w.without()
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
		if s := w.snapshot("t"); len(s.PendingDialogs) != 1 {
			w.Fatalf("pending %+v", s.PendingDialogs)
		}
		w.b.Crash(page)
		if s := w.snapshot("t"); len(s.PendingDialogs) != 0 {
			w.Errorf("pending %+v", s.PendingDialogs)
		}
	})

	inWorld(t, "an answer that is under way when its session ends is said by whoever has the page", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything, bridged).PageTargetID
		_, anchor := w.links()
		w.without()
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		id := w.snapshot("t").PendingDialogs[0].ID
		const answers = "Debugger.evaluateOnCallFrame"
		anchor.SwallowNextReply(answers)
		answered := begin(w, func(context.Context) (messages.ClosedDialog, error) { return w.answer("t", id, "me") })
		synctest.Wait()
		w.b.RefuseConnections(false)
		time.Sleep(effect.AnswerBudget / 2) // the primary is back
		for _, c := range anchor.Commands() {
			if c.Method == answers {
				w.b.Detach(c.Session)
			}
		}
		if s := w.snapshot("t"); s.Connection.Primary != messages.LinkUp || len(s.PendingDialogs) != 0 {
			w.Fatalf("%+v, pending %+v", s.Connection, s.PendingDialogs)
		}
		if o := <-answered; o.err != nil || o.after >= effect.AnswerBudget {
			w.Errorf("answered with %v after %s", o.err, o.after)
		}
		if r, _ := d.Result(); r.Text != "me" {
			w.Errorf("the page got %+v", r)
		}
	})

	inWorld(t, "pages that outlive the task get their own functions back", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything, bridged).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		synctest.Wait()
		w.without()
		if err := w.node.StopTask(w.ctx, "t"); err != nil {
			w.Fatal(err)
		}
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
		synctest.Wait()
		if r, _ := d.Result(); r.By == chaos.ClosedByNothing {
			w.Errorf("a function of ours answered: %+v", r)
		}
	})
}

// TestBridgeWhereASessionFails is about what was in the mailbox of a page's session
// that failed, where no second link tells of it: its dialog is lost, and its page runs on.
func TestBridgeWhereASessionFails(t *testing.T) {
	t.Parallel()
	failing := func(name string, story func(w *world, page messages.TargetID, fail func(do func()))) {
		var armed atomic.Bool
		inWorldWith(t, name, chaos.Options{Pages: 1}, breaking(&armed, "session", guard.PhaseReceive), func(w *world) {
			page := w.start("t", everything, alone, bridged).PageTargetID
			synctest.Wait()
			story(w, page, func(do func()) {
				w.Helper()
				armed.Store(true)
				do()
				synctest.Wait()
				if armed.Load() {
					w.Fatal("nothing was broken")
				}
				time.Sleep(2 * time.Second)
			})
		})
	}
	waits := func(w *world) messages.Dialog {
		w.Helper()
		s := w.snapshot("t")
		if len(s.PendingDialogs) != 1 {
			w.Fatalf("pending %+v, recent %+v", s.PendingDialogs, s.RecentDialogs)
		}
		return s.PendingDialogs[0]
	}

	// The next dialog is whole again.
	works := func(w *world, page messages.TargetID) {
		w.Helper()
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "and now?", "")
		if _, err := w.answer("t", waits(w).ID, "me"); err != nil {
			w.Fatal(err)
		}
		if r, _ := d.Result(); r.Text != "me" {
			w.Errorf("the page got %+v", r)
		}
	}

	failing("a call that was not read yet is dismissed", func(w *world, page messages.TargetID, fail func(func())) {
		var d *chaos.Dialog
		fail(func() { d = w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "") })
		if r, over := d.Result(); !over || r.IsAccepted {
			w.Errorf("the page got %+v, over: %t", r, over)
		}
		works(w, page)
	})

	failing("one that was told of is lost", func(w *world, page messages.TargetID, fail func(func())) {
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		id := waits(w).ID
		fail(func() {
			begin(w, func(ctx context.Context) (messages.NavigateResult, error) {
				return w.node.Navigate(ctx, "t", messages.NavigateRequest{URL: "http://a.test/p"}) // which is lost
			})
		})
		s := w.snapshot("t")
		if len(s.PendingDialogs) != 0 || len(s.RecentDialogs) != 1 || s.RecentDialogs[0].ID != id || s.RecentDialogs[0].ClosedBy != messages.ClosedByLost {
			w.Errorf("pending %+v, recent %+v", s.PendingDialogs, s.RecentDialogs)
		}
		if r, over := d.Result(); !over || r.IsAccepted {
			w.Errorf("the page got %+v, over: %t", r, over)
		}
		works(w, page)
	})

	failing("one whose document goes is over", func(w *world, page messages.TargetID, fail func(func())) {
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
		waits(w)
		fail(func() { w.b.Navigate(page, "http://a.test/p") })
		if s := w.snapshot("t"); len(s.PendingDialogs) != 0 || s.PageState != messages.PageOK {
			w.Errorf("page %s, pending %+v", s.PageState, s.PendingDialogs)
		}
	})

	failing("turned off, new documents are native", func(w *world, page messages.TargetID, fail func(func())) {
		fail(func() { w.b.LogError(w.b.MainFrame(page), "boo") })
		if n := len(w.b.Scripts(page)); n != 1 {
			w.Errorf("%d scripts for new documents, want one", n)
		}
		w.start("t", everything, alone, func(s *messages.TaskSpec) { s.Bridge = messages.BridgeOff })
		synctest.Wait()
		if list := w.b.Scripts(page); len(list) != 0 {
			w.Errorf("%d scripts for new documents are left", len(list))
		}
	})

	failing("turned off meanwhile, documents are native", func(w *world, page messages.TargetID, fail func(func())) {
		fail(func() {
			w.b.LogError(w.b.MainFrame(page), "boo")
			synctest.Wait()
			w.start("t", everything, alone, func(s *messages.TaskSpec) { s.Bridge = messages.BridgeOff })
		})
		if list := w.b.Scripts(page); len(list) != 0 {
			w.Errorf("%d scripts for new documents are left", len(list))
		}
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
		if waits(w).Path != messages.PathNative || d.IsBridged() {
			w.Error("the page asks over the bridge")
		}
	})
}
