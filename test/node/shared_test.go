package node_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// withThird starts a task with a page of host that shows a frame of third.test.
func (w *world) withThird(id messages.TaskID, host string, change ...func(*messages.TaskSpec)) (page messages.TargetID, frame messages.FrameID) {
	w.Helper()
	page = w.start(id, append([]func(*messages.TaskSpec){alone, isolation(messages.IsolationShared)}, change...)...).PageTargetID
	w.b.Navigate(page, "http://"+host+"/p")
	w.b.AddFrame(w.b.MainFrame(page), "http://third.test/x")
	synctest.Wait()
	return page, w.frame(page)
}

func (w *world) callIn(id messages.TaskID, r messages.CDPRequest) <-chan outcome {
	w.Helper()
	r.Method, r.Params = "Runtime.evaluate", []byte(`{"expression":"1"}`)
	return begin(w, func(ctx context.Context) (messages.CDPResult, error) { return w.node.CDP(ctx, id, r) })
}

// stateOf is the state of a task's page.
func (w *world) stateOf(id messages.TaskID, page messages.TargetID) messages.PageState {
	w.Helper()
	for _, p := range w.snapshot(id).Pages {
		if p.TargetID == page {
			return p.PageState
		}
	}
	w.Fatalf("task %s has no page %s", id, page)
	return ""
}

func (w *world) comesToBe(id messages.TaskID, page messages.TargetID, state messages.PageState, within time.Duration) {
	w.Helper()
	for began := time.Now(); w.stateOf(id, page) != state; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > within {
			w.Fatalf("the page of %s is %s after %s, not %s", id, w.stateOf(id, page), within, state)
		}
	}
}

// A dialog silences whatever shares its renderer (C59). That is no fault of the page's
// that is silent, and nothing is done to it.
func TestADialogInASharedRenderer(t *testing.T) {
	t.Parallel()
	shared := chaos.Options{SharesFrames: true}
	closes := func(s *messages.TaskSpec) {
		s.Scope, s.OnWedge, s.OnWedgeAfterS = messages.ScopeOwn, messages.OnWedgeClose, patience.Seconds()
	}
	inWorld(t, "of another task is said to be elsewhere, and the page is left", shared, func(w *world) {
		_, asks := w.withThird("a", "a.test", own)
		page, frame := w.withThird("b", "b.test", closes)
		d := w.b.OpenDialog(asks, chaos.Confirm, "sure?", "")
		call := w.callIn("b", messages.CDPRequest{FrameID: frame, TimeoutS: 3})
		w.comesToBe("b", page, messages.PageBlockedElsewhere, time.Second)
		got := <-call
		w.want(messages.CodePageWedged, got.err)
		var e *messages.Error
		if !errors.As(got.err, &e) || e.Details["page_state"] != messages.PageBlockedElsewhere || e.Details["pending_dialogs"] != nil {
			t.Errorf("the call says %v %v", got.err, e.Details)
		}
		if got := <-w.callIn("b", messages.CDPRequest{FrameID: frame, TimeoutS: 3}); got.after > 0 {
			t.Errorf("the next call fails after %s: %v", got.after, got.err)
		}
		for _, action := range []messages.RecoverAction{messages.RecoverRelease, messages.RecoverReload} {
			_, err := w.node.Recover(w.ctx, "b", messages.RecoverRequest{Action: action})
			w.want(messages.CodePageWedged, err)
		}
		time.Sleep(time.Minute)
		w.comesToBe("b", page, messages.PageBlockedElsewhere, 0)
		if s := w.snapshot("b"); s.State != messages.StateActive || len(s.PendingDialogs) > 0 {
			t.Errorf("task b is %s with %+v", s.State, s.PendingDialogs)
		}
		if _, err := w.node.Respond(w.ctx, "a", messages.DialogAnswer{Action: "accept"}); err != nil {
			t.Fatal(err)
		}
		<-d.Done()
		w.comesToBe("b", page, messages.PageOK, time.Second)
		if got := <-w.callIn("b", messages.CDPRequest{FrameID: frame, TimeoutS: 3}); got.err != nil {
			t.Error(got.err)
		}
	})
	inWorldWith(t, "of another task that asked before the page was attached to is elsewhere too", shared, ownSockets, func(w *world) {
		_, asks := w.withThird("a", "a.test", own)
		page, _ := w.withThird("b", "b.test", closes)
		w.b.OpenDialog(asks, chaos.Confirm, "sure?", "")
		for _, c := range w.b.Connections() {
			if slices.Contains(c.Received(""), "Target.createTarget") && c.Number() == 2 {
				c.Drop()
			}
		}
		w.comesToBe("b", page, messages.PageBlockedElsewhere, 2*time.Second)
		if _, err := w.node.Respond(w.ctx, "a", messages.DialogAnswer{Action: "accept"}); err != nil {
			t.Fatal(err)
		}
		w.comesToBe("b", page, messages.PageOK, time.Second)
	})
	inWorld(t, "of another page of the task is told with it", shared, func(w *world) {
		page, frame := w.withThird("t", "a.test", closes)
		popup := w.b.OpenPopup(w.b.MainFrame(page), "http://c.test/q")
		synctest.Wait()
		w.b.AddFrame(w.b.MainFrame(popup), "http://third.test/y")
		synctest.Wait()
		w.b.OpenDialog(w.frame(popup), chaos.Confirm, "sure?", "")
		got := <-w.callIn("t", messages.CDPRequest{FrameID: frame, TimeoutS: 30})
		w.want(messages.CodeBlockedByDialog, got.err)
		var e *messages.Error
		if !errors.As(got.err, &e) {
			t.Fatal(got.err)
		}
		if ds, _ := e.Details["pending_dialogs"].([]messages.Dialog); len(ds) != 1 || ds[0].TargetID != popup || got.after > time.Second {
			t.Errorf("after %s: %v", got.after, e.Details)
		}
		w.comesToBe("t", page, messages.PageDialog, 0)
		time.Sleep(time.Minute)
		w.comesToBe("t", page, messages.PageDialog, 0)
		if _, err := w.node.Respond(w.ctx, "t", messages.DialogAnswer{Action: "accept"}); err != nil {
			t.Fatal(err)
		}
		w.comesToBe("t", page, messages.PageOK, time.Second)
	})
	inWorld(t, "of its popup holds the opener, and is told with it", chaos.Options{}, func(w *world) {
		page, _ := w.withThird("t", "a.test", closes)
		popup := w.b.OpenPopup(w.b.MainFrame(page), "http://a.test/q")
		synctest.Wait()
		w.b.OpenDialog(w.b.MainFrame(popup), chaos.Confirm, "sure?", "")
		w.want(messages.CodeBlockedByDialog, (<-w.callIn("t", messages.CDPRequest{TargetID: page, TimeoutS: 30})).err)
		_, err := w.node.Navigate(w.ctx, "t", messages.NavigateRequest{URL: "http://a.test/r", TargetID: page, TimeoutS: 5})
		w.want(messages.CodeBlockedByDialog, err)
		time.Sleep(time.Minute)
		w.comesToBe("t", page, messages.PageDialog, 0)
		if _, err := w.node.Respond(w.ctx, "t", messages.DialogAnswer{Action: "accept"}); err != nil {
			t.Fatal(err)
		}
		w.comesToBe("t", page, messages.PageOK, time.Second)
	})
	inWorld(t, "of another task is what a page waits for that does not load", shared, func(w *world) {
		_, asks := w.withThird("a", "a.test", own)
		page, _ := w.withThird("b", "b.test", closes)
		w.b.OpenDialog(asks, chaos.Confirm, "sure?", "")
		w.callIn("b", messages.CDPRequest{FrameID: w.frame(page), TimeoutS: 3})
		w.comesToBe("b", page, messages.PageBlockedElsewhere, time.Second)
		// A page that spins beside it is not recovered either: the other task's dialog
		// may have come after its key.
		time.Sleep(time.Minute)
		w.comesToBe("b", page, messages.PageBlockedElsewhere, 0)
	})
}

// Tasks that each have a context of their own share no renderer: a dialog of one
// leaves the other's frame of the same site alone.
func TestADialogInAnotherContext(t *testing.T) {
	t.Parallel()
	inWorld(t, "does not silence it", chaos.Options{SharesFrames: true}, func(w *world) {
		_, asks := w.withThird("a", "a.test", own, isolation(messages.IsolationAuto))
		_, frame := w.withThird("b", "b.test", own, isolation(messages.IsolationAuto))
		d := w.b.OpenDialog(asks, chaos.Confirm, "sure?", "")
		if got := <-w.callIn("b", messages.CDPRequest{FrameID: frame, TimeoutS: 3}); got.err != nil || d == nil {
			t.Errorf("%v", got.err)
		}
	})
}
