package node_test

import (
	"context"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// Keys are taken for a page that starts as they are under a dialog. There is none.
func TestAPageThatStartsIsGivenTime(t *testing.T) {
	t.Parallel()
	target := func(page messages.TargetID) func(*messages.TaskSpec) {
		return func(s *messages.TaskSpec) {
			s.Scope, s.TargetID = messages.ScopeTarget, page
			s.OnWedge, s.OnWedgeAfterS = messages.OnWedgeClose, patience.Seconds()
		}
	}
	inWorld(t, "nothing is said of it", chaos.Options{Pages: 1}, func(w *world) {
		page := w.b.NewSlowPage("http://a.test/slow", 2*time.Second)
		if s := w.start("t", target(page), alone); s.State != messages.StateActive || s.PageState != messages.PageOK {
			w.Errorf("the task is %s, its page %s", s.State, s.PageState)
		}
		if n := w.lines.count("wedged"); n > 0 {
			w.Errorf("wedged %d times", n)
		}
	})
	inWorld(t, "one that does not come to an end is no dialog's, and is not closed", chaos.Options{Pages: 1}, func(w *world) {
		page := w.b.NewSlowPage("http://a.test/slow", time.Hour)
		w.start("t", target(page), alone)
		for range 60 {
			w.becomes(page, messages.PageHung, 0)
			time.Sleep(time.Second)
		}
	})
}

// A page that spins and is sent somewhere on its own site takes keys as well.
func TestAPageBetweenTwoDocumentsHangs(t *testing.T) {
	t.Parallel()
	inWorld(t, "and holds no dialog", chaos.Options{Pages: 1, CanStrand: true}, func(w *world) {
		page := w.page()
		w.b.Spin(page)
		going := begin(w, func(ctx context.Context) (messages.NavigateResult, error) {
			return w.node.Navigate(ctx, "t", messages.NavigateRequest{URL: "http://a.test/other", TimeoutS: 10})
		})
		w.becomes(page, messages.PageHung, 3*time.Second)
		w.want(messages.CodePageWedged, (<-going).err)
		w.becomes(page, messages.PageHung, 0)
	})
}
