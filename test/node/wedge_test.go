package node_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// becomes waits until a page's state is as wanted, and says how long it took.
func (w *world) becomes(page messages.TargetID, state messages.PageState, within time.Duration) time.Duration {
	w.Helper()
	began := time.Now()
	for {
		s := w.snapshot("t")
		for _, p := range s.Pages {
			if p.TargetID == page && p.PageState == state && s.Connection.Primary == messages.LinkUp {
				return time.Since(began)
			}
		}
		if time.Since(began) > within {
			w.Fatalf("not %s within %s: %+v", state, within, s.Pages)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// evaluate begins a call that the renderer has to answer.
func (w *world) evaluate(seconds float64) <-chan outcome {
	return begin(w, func(ctx context.Context) (messages.CDPResult, error) {
		return w.node.CDP(ctx, "t", messages.CDPRequest{Method: "Runtime.evaluate", Params: []byte(`{"expression":"1"}`), TimeoutS: seconds})
	})
}

func (w *world) recover(a messages.RecoverAction) (messages.RecoverResult, error) {
	w.Helper()
	return w.node.Recover(w.ctx, "t", messages.RecoverRequest{Action: a})
}

// wedges are ways to lose a page, and what is to be said of it. A task with one
// link has page under its eyes.
var wedges = []struct {
	name   string
	state  messages.PageState
	befall func(w *world, page messages.TargetID)
}{
	{"a loop, while a call waits", messages.PageHung, func(w *world, page messages.TargetID) {
		w.b.Spin(page)
		w.evaluate(200)
	}},
	{"a loop that the link was lost in", messages.PageHung, func(w *world, page messages.TargetID) {
		w.b.Spin(page)
		w.b.DropConnections()
	}},
	{"a crash", messages.PageCrashed, func(w *world, page messages.TargetID) { w.b.Crash(page) }},
	{"a crash that the link was lost before", messages.PageCrashed, func(w *world, page messages.TargetID) {
		w.b.DropConnections()
		w.b.Crash(page)
	}},
	{"a dialog", messages.PageDialog, func(w *world, page messages.TargetID) {
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
	}},
	{"a dialog that the link was lost under", messages.PageDialogUnreachable, func(w *world, page messages.TargetID) {
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
		synctest.Wait()
		w.b.DropConnections()
	}},
	{"a frame's dialog that the link was lost under", messages.PageDialogUnreachable, func(w *world, page messages.TargetID) {
		w.b.OpenDialog(w.frame(page), chaos.Confirm, "sure?", "")
		synctest.Wait()
		w.b.DropConnections()
	}},
	{"two dialogs at once", messages.PageDialogUnreachable, func(w *world, page messages.TargetID) {
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "one?", "")
		w.b.OpenDialog(w.frame(page), chaos.Confirm, "two?", "")
	}},
}

// frame is the page's only iframe.
func (w *world) frame(page messages.TargetID) messages.FrameID { return w.b.FramesOf(page)[1].ID }

// page starts a task on a page with an iframe of another origin.
func (w *world) page(change ...func(*messages.TaskSpec)) messages.TargetID {
	w.Helper()
	page := w.start("t", append([]func(*messages.TaskSpec){everything, alone}, change...)...).PageTargetID
	w.b.Navigate(page, "http://a.test/p")
	w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
	synctest.Wait()
	return page
}

func TestAWedgeHasItsNameWithinASecond(t *testing.T) {
	t.Parallel()
	for _, c := range wedges {
		inWorld(t, c.name, chaos.Options{Pages: 1}, func(w *world) {
			page := w.page()
			c.befall(w, page)
			took := w.becomes(page, c.state, 2*time.Second)
			if took >= time.Second {
				w.Errorf("after %s", took)
			}
			w.Logf("after %s", took)
			// And it is no more than that.
			time.Sleep(5 * time.Second)
			w.becomes(page, c.state, 0)
		})
	}
}

func TestALoopHasItsNameWhileAPageLoads(t *testing.T) {
	t.Parallel()
	inWorld(t, "it spins", chaos.Options{Pages: 1, Load: slow}, func(w *world) {
		page := w.page()
		going := begin(w, func(ctx context.Context) (messages.NavigateResult, error) {
			return w.node.Navigate(ctx, "t", messages.NavigateRequest{URL: "http://a.test/slow", TimeoutS: 20})
		})
		w.b.Spin(page)
		if took := w.becomes(page, messages.PageHung, 3*time.Second); took < 2*time.Second {
			w.Errorf("doubted after %s", took)
		}
		w.want(messages.CodePageWedged, (<-going).err)
	})
	inWorld(t, "it is only slow", chaos.Options{Pages: 1, Load: slow}, func(w *world) {
		page := w.page()
		going := begin(w, func(ctx context.Context) (messages.NavigateResult, error) {
			return w.node.Navigate(ctx, "t", messages.NavigateRequest{URL: "http://a.test/slow", TimeoutS: 20})
		})
		for range 19 {
			time.Sleep(time.Second)
			w.becomes(page, messages.PageOK, 0)
		}
		w.want(messages.CodeDeadline, (<-going).err)
	})
}
