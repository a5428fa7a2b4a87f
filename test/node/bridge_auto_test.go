package node_test

import (
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// TestAutoTurnsByTheThresholdOfTheSpec: the spec says what is too fast for an agent, also
// while the task runs.
func TestAutoTurnsByTheThresholdOfTheSpec(t *testing.T) {
	t.Parallel()
	within := func(ms int64) func(*messages.TaskSpec) {
		return func(s *messages.TaskSpec) { s.BridgeThresholdMS = ms }
	}
	for name, c := range map[string]struct {
		start, then func(*messages.TaskSpec) // then: nil is none
		after       time.Duration
		accept      bool
		want        messages.Bridge
	}{
		"faster, dismissed":       {within(400), nil, 300 * time.Millisecond, false, messages.BridgeOn},
		"faster, accepted":        {within(400), nil, 300 * time.Millisecond, true, messages.BridgeOn},
		"slower":                  {within(400), nil, 500 * time.Millisecond, false, messages.BridgeNative},
		"slower than a short one": {within(20), nil, 30 * time.Millisecond, true, messages.BridgeNative},
		"raised meanwhile":        {within(20), within(400), 300 * time.Millisecond, true, messages.BridgeOn},
		"lowered meanwhile":       {within(400), within(20), 300 * time.Millisecond, false, messages.BridgeNative},
	} {
		inWorld(t, name, chaos.Options{Pages: 1}, func(w *world) {
			page := w.start("t", everything, c.start).PageTargetID
			if c.then != nil {
				w.start("t", everything, c.then)
			}
			d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
			synctest.Wait()
			time.Sleep(c.after)
			w.b.CloseDialog(d, c.accept, "")
			time.Sleep(time.Second)
			s := w.snapshot("t")
			if len(s.RecentDialogs) != 1 || s.RecentDialogs[0].ClosedBy != messages.ClosedByRemote || s.Connection.Bridge != c.want {
				w.Errorf("bridge %s, want %s; recent %+v", s.Connection.Bridge, c.want, s.RecentDialogs)
			}
		})
	}
}

// TestAutoDoesNotTurnForAPageThatNavigates: the end of a dialog's document is no answer to it.
func TestAutoDoesNotTurnForAPageThatNavigates(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *world, page messages.TargetID, f messages.FrameID){
		"the page":         func(w *world, page messages.TargetID, _ messages.FrameID) { w.b.Navigate(page, "http://a.test/leaf") },
		"to another site":  func(w *world, page messages.TargetID, _ messages.FrameID) { w.b.Navigate(page, "http://c.test/leaf") },
		"its frame is out": func(w *world, _ messages.TargetID, f messages.FrameID) { w.b.RemoveFrame(f) },
	} {
		inWorld(t, name, chaos.Options{Pages: 1}, func(w *world) {
			page := w.start("t", everything).PageTargetID
			frames := w.framed(page)
			d := w.b.OpenDialog(frames[2], chaos.Confirm, "sure?", "")
			synctest.Wait()
			time.Sleep(20 * time.Millisecond)
			act(w, page, frames[2])
			time.Sleep(time.Second)
			if _, closed := d.Result(); !closed {
				w.Fatal("the dialog is open")
			}
			if s := w.snapshot("t"); s.Connection.Bridge != messages.BridgeNative {
				w.Errorf("bridge %s; recent %+v", s.Connection.Bridge, s.RecentDialogs)
			}
		})
	}
}
