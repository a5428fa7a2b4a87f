package node_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

func TestReconnect(t *testing.T) {
	t.Parallel()

	inWorld(t, "a lost link comes back at once, with its pages and frames", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything, alone).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		before := w.snapshot("t")
		for range 20 {
			if n := w.b.DropConnections(); n != 1 {
				w.Fatalf("%d connections, want 1", n)
			}
			after := w.snapshot("t")
			if after.State != messages.StateActive || after.PageTargetID != page || len(after.Pages) != 1 {
				w.Fatalf("after a drop: %+v", after)
			}
			if f := after.FrameTree; f == nil || len(f.Children) != 1 || f.Children[0].FrameID != frame || !f.Children[0].IsOOPIF || f.Children[0].SessionID == "" {
				w.Fatalf("frame tree after a drop: %+v", f)
			}
		}
		after := w.snapshot("t")
		if after.Connection.Reconnects != 20 || after.Connection.LastGapMS != 0 || w.b.Dials() != 21 {
			w.Errorf("%+v after %d dials", after.Connection, w.b.Dials())
		}
		if after.Version <= before.Version {
			w.Errorf("version %d after %d", after.Version, before.Version)
		}
	})

	inWorld(t, "a task is lost after its time and five failed dials, said once", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything, alone)
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		synctest.Wait()
		if s := w.snapshot("t"); s.State != messages.StateRecovering || s.Connection.Primary != messages.LinkBackoff {
			w.Fatalf("state %s, primary %s", s.State, s.Connection.Primary)
		}
		time.Sleep(messages.DefaultGiveUpAfter - 2*time.Second)
		if s := w.snapshot("t"); s.State != messages.StateRecovering {
			w.Fatalf("state %s, too soon", s.State)
		}
		time.Sleep(5 * time.Second)
		s := w.snapshot("t")
		if s.State != messages.StateLost || s.Active || s.PendingDialogs != nil || s.FrameTree != nil {
			w.Errorf("snapshot %+v", s)
		}
		if s.Connection.Primary != messages.LinkDown {
			w.Errorf("primary %s", s.Connection.Primary)
		}
		if n := w.lines.count("task is lost"); n != 1 {
			w.Errorf("said %d times", n)
		}
		if n := w.b.Dials(); n != 1 {
			w.Errorf("%d links", n)
		}
		_, err := w.node.Navigate(w.ctx, "t", messages.NavigateRequest{URL: "http://a.test/"})
		w.want(messages.CodeUpstreamUnavailable, err)
		w.b.RefuseConnections(false)
		if s := w.start("t", everything); s.State != messages.StateActive || s.Connection.Reconnects != 0 {
			w.Errorf("a fresh start: %+v", s)
		}
	})

	inWorld(t, "a success forgives the failures before it", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		for range 4 {
			w.b.RefuseConnections(true)
			w.b.DropConnections()
			time.Sleep(time.Second) // two or three attempts
			w.b.RefuseConnections(false)
			time.Sleep(time.Minute)
			if s := w.snapshot("t"); s.State != messages.StateActive {
				w.Fatalf("state %s: %s", s.State, s.Reason)
			}
		}
	})

	inWorld(t, "who waits while the link is lost is told at once", chaos.Options{Pages: 1, Load: slow}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		navigated := begin(w, func(ctx context.Context) (messages.NavigateResult, error) {
			return w.node.Navigate(ctx, "t", messages.NavigateRequest{URL: "http://a.test/slow", TimeoutS: 200})
		})
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		got := <-navigated
		w.want(messages.CodeUpstreamUnavailable, got.err)
		if got.after != 0 {
			w.Errorf("after %s", got.after)
		}
		closed := begin(w, func(ctx context.Context) (messages.CDPResult, error) {
			return w.node.CDP(ctx, "t", messages.CDPRequest{Method: "Target.closeTarget", Params: []byte(`{"targetId":"` + page + `"}`), TimeoutS: 60, WaitS: new(0.0)})
		})
		got = <-closed
		w.want(messages.CodeUpstreamUnavailable, got.err)
		if got.after != 0 {
			w.Errorf("after %s", got.after)
		}
	})

	inWorld(t, "a popup that was held when the link fell runs again (C33)", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		c := w.b.Connections()[0]
		c.Stall()
		popup := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/pop")
		w.b.DropConnections()
		s := w.snapshot("t")
		if len(s.Pages) != 2 || s.Pages[1].TargetID != popup {
			w.Fatalf("pages %+v", s.Pages)
		}
		for _, p := range w.b.Pages() {
			if p.IsFrozen || p.IsHeld {
				w.Errorf("page %+v", p)
			}
		}
	})
}

// slow is a server that never answers under /slow.
func slow(url string) chaos.Document {
	d := chaos.DefaultDocument(url)
	if d.Title == "slow" {
		d.Delay = time.Hour
	}
	return d
}

func TestBudgets(t *testing.T) {
	t.Parallel()

	inWorld(t, "a closed port is an error at once, after one dial", chaos.Options{}, func(w *world) {
		w.b.RefuseConnections(true)
		began := time.Now()
		_, _, err := w.node.GetOrStart(w.ctx, "t", w.spec())
		w.want(messages.CodeUpstreamUnavailable, err)
		if took := time.Since(began); took != 0 {
			w.Errorf("after %s", took)
		}
		synctest.Wait()
		if n := w.lines.count("task is lost"); n != 1 {
			w.Errorf("said %d times", n)
		}
		if _, err := w.node.Snapshot("t", messages.SnapshotOptions{}); messages.CodeOf(err) != messages.CodeTaskNotFound {
			w.Errorf("a task that never was: %v", err)
		}
	})

	inWorld(t, "a browser that takes the link and stays silent is given up after 15 s", chaos.Options{Pages: 1}, func(w *world) {
		w.between = func(down bool, _ []byte) bool { return down }
		got := <-begin(w, func(ctx context.Context) (*messages.Snapshot, error) {
			s, _, err := w.node.GetOrStart(ctx, "t", w.spec())
			return s, err
		})
		w.want(messages.CodeDeadline, got.err)
		if got.after != 15*time.Second {
			w.Errorf("after %s", got.after)
		}
	})

	inWorld(t, "a dialog that nobody answers is dismissed after exactly 300 s", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		began := time.Now()
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "me")
		if s := w.snapshot("t"); len(s.PendingDialogs) != 1 || s.PageState != messages.PageDialog {
			w.Fatalf("pending %+v", s.PendingDialogs)
		}
		time.Sleep(300*time.Second - time.Nanosecond)
		synctest.Wait()
		if _, closed := d.Result(); closed {
			w.Fatal("too early")
		}
		time.Sleep(time.Nanosecond)
		s := w.snapshot("t")
		if r, closed := d.Result(); !closed || r.IsAccepted || r.By != chaos.ClosedByAnswer {
			w.Fatalf("got %+v, %v", r, closed)
		}
		if len(s.RecentDialogs) != 1 || s.RecentDialogs[0].ClosedBy != messages.ClosedByWatchdog || len(s.PendingDialogs) != 0 {
			w.Errorf("after %s: recent %+v, pending %+v", time.Since(began), s.RecentDialogs, s.PendingDialogs)
		}
	})

	inWorld(t, "a task that nobody uses ends after an hour, and not while it is used", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t")
		for range 3 {
			time.Sleep(59 * time.Minute)
			if err := w.node.Renew("t"); err != nil {
				w.Fatal(err)
			}
		}
		stream, err := w.node.Watch(w.ctx, "t", 0, false)
		if err != nil {
			w.Fatal(err)
		}
		time.Sleep(3 * time.Hour)
		if s := w.snapshot("t"); s.State != messages.StateActive {
			w.Fatalf("ended while watched: %+v", s)
		}
		stream.Close()
		time.Sleep(time.Hour + 2*time.Second)
		s := w.snapshot("t")
		if s.State != messages.StateStopped || s.Reason == "" {
			w.Errorf("state %s, reason %q", s.State, s.Reason)
		}
		if n := len(w.b.Pages()); n != 1 {
			w.Errorf("%d pages are left, want the user's one", n)
		}
	})

	inWorld(t, "a task ends at the end of its life however busy it is", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", func(s *messages.TaskSpec) { s.MaxLifeS = 7200 })
		stream, err := w.node.Watch(w.ctx, "t", 0, false)
		if err != nil {
			w.Fatal(err)
		}
		defer stream.Close()
		time.Sleep(2*time.Hour - time.Second)
		if s := w.snapshot("t"); s.State != messages.StateActive {
			w.Fatalf("state %s", s.State)
		}
		time.Sleep(3 * time.Second)
		if s := w.snapshot("t"); s.State != messages.StateStopped {
			w.Errorf("state %s", s.State)
		}
	})
}

func TestStarting(t *testing.T) {
	t.Parallel()

	inWorld(t, "fifty starts at once are one link", chaos.Options{Pages: 1}, func(w *world) {
		var calls []<-chan outcome
		for range 50 {
			calls = append(calls, begin(w, func(ctx context.Context) (bool, error) {
				spec := w.spec()
				spec.Anchor = messages.AnchorNone
				_, started, err := w.node.GetOrStart(ctx, "t", spec)
				return started, err
			}))
		}
		started := 0
		for _, c := range calls {
			got := <-c
			if got.err != nil {
				w.Fatal(got.err)
			}
			if got.value.(bool) {
				started++
			}
		}
		if started != 1 || w.b.Dials() != 1 {
			w.Errorf("%d started, %d links", started, w.b.Dials())
		}
	})

	inWorld(t, "a stop while it attaches leaves no tab behind", chaos.Options{Pages: 1}, func(w *world) {
		w.between = func(down bool, message []byte) bool {
			// The reply to createTarget; the attach has been reported before it.
			if !down && bytes.Contains(message, []byte(`"result":{"targetId"`)) {
				time.Sleep(100 * time.Millisecond)
			}
			return true
		}
		starting := begin(w, func(ctx context.Context) (*messages.Snapshot, error) {
			s, _, err := w.node.GetOrStart(ctx, "t", w.spec())
			return s, err
		})
		time.Sleep(50 * time.Millisecond)
		if n := len(w.b.Pages()); n != 2 {
			w.Fatalf("%d pages, want the user's and the task's", n)
		}
		if err := w.node.StopTask(w.ctx, "t"); err != nil {
			w.Fatal(err)
		}
		w.want(messages.CodeUpstreamUnavailable, (<-starting).err)
		synctest.Wait()
		if n := len(w.b.Pages()); n != 1 {
			w.Errorf("%d pages are left", n)
		}
		if n := len(w.b.Connections()); n != 0 {
			w.Errorf("%d links are left", n)
		}
	})

	inWorld(t, "a task that ends leaves no popup frozen (C33)", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		stopped := begin(w, func(ctx context.Context) (any, error) {
			// Both at once: the popup is reported while the task leaves.
			w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/pop")
			return nil, w.node.StopTask(ctx, "t")
		})
		if got := <-stopped; got.err != nil {
			w.Fatal(got.err)
		}
		synctest.Wait()
		for _, p := range w.b.Pages() {
			if p.IsFrozen || p.IsHeld {
				w.Errorf("page %+v", p)
			}
		}
	})

	inWorld(t, "a task that ends leaves no dialog behind that would freeze the page (C17)", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
		synctest.Wait()
		if err := w.node.StopTask(w.ctx, "t"); err != nil {
			w.Fatal(err)
		}
		if r, closed := d.Result(); !closed || r.IsAccepted {
			w.Errorf("got %+v, %v", r, closed)
		}
	})

	inWorld(t, "another browser is a fresh task", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Alert, "old", "")
		synctest.Wait()
		if _, err := w.node.Respond(w.ctx, "t", messages.DialogAnswer{Action: "accept"}); err != nil {
			w.Fatal(err)
		}
		old := w.snapshot("t")
		s := w.start("t", own)
		if len(s.RecentDialogs) != 0 || s.PageTargetID == page || s.Version >= old.Version {
			w.Errorf("snapshot %+v", s)
		}
		synctest.Wait()
		if n := len(w.b.Connections()); n != 2 {
			w.Errorf("%d links", n)
		}
	})
}
