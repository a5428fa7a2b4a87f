package holdfast_test

import (
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// TestACrashTurnsNoTaskToTheBridge: a renderer that crashes ends its dialog, as what is
// inside a hosted browser does, and not to anybody's disadvantage.
func TestACrashTurnsNoTaskToTheBridge(t *testing.T) {
	t.Parallel()
	inWorld(t, "under a dialog", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
		synctest.Wait()
		w.b.Crash(page)
		time.Sleep(time.Second)
		s := w.snapshot("t")
		if len(s.RecentDialogs) != 1 || s.RecentDialogs[0].ClosedBy != messages.ClosedByRemote || s.Connection.Bridge != messages.BridgeNative {
			t.Errorf("bridge %s, recent %+v", s.Connection.Bridge, s.RecentDialogs)
		}
	})
}
