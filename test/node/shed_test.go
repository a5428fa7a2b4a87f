package node_test

import (
	"testing"
	"testing/synctest"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/chaos"
	"holdfast/messages"
)

func TestPagesOfATaskAreBounded(t *testing.T) {
	t.Parallel()
	inWorld(t, "those beyond are left to themselves, and none is opened", chaos.Options{Pages: effect.MaxPages + 7}, func(w *world) {
		s := w.start("t", everything, alone)
		if len(s.Pages) != effect.MaxPages || s.State != messages.StateActive {
			w.Fatalf("%d pages, %s", len(s.Pages), s.State)
		}
		_, err := w.node.CDP(w.ctx, "t", messages.CDPRequest{Method: "Target.createTarget", Params: []byte(`{"url":"about:blank"}`)})
		w.want(messages.CodeLimitReached, err)
		popup := w.b.OpenPopup(w.b.MainFrame(s.PageTargetID), "http://a.test/pop")
		time.Sleep(time.Second)
		synctest.Wait()
		for _, p := range w.b.Pages() {
			if p.IsHeld || p.IsFrozen {
				w.Errorf("%s is held: the popup is %s", p.Target, popup)
			}
		}
		if n := w.metric(`holdfast_shed_total{bound="pages"}`); n != 8 {
			w.Errorf("%d were counted", n)
		}
		if n := len(w.lines.logged("as many pages as it may")); n != 1 {
			w.Errorf("said %d times", n)
		}
	})
}
