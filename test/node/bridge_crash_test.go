package node_test

import (
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// TestACrashTurnsNoTaskToTheBridge: a renderer that crashes ends its dialog, as the client
// inside a hosted browser does, but no agent loses an answer by it. That holds for the
// renderer of the dialog, and for no other.
func TestACrashTurnsNoTaskToTheBridge(t *testing.T) {
	t.Parallel()
	main := func(w *world, page messages.TargetID) messages.FrameID { return w.b.MainFrame(page) }
	framed := func(w *world, page messages.TargetID) messages.FrameID { return w.frame(page) }
	const soon = 5 * time.Millisecond
	for name, c := range map[string]struct {
		in     func(*world, messages.TargetID) messages.FrameID
		before bool // the frame has crashed
		ends   func(w *world, page messages.TargetID, d *chaos.Dialog)
		want   messages.Bridge
	}{
		"the page crashes":  {main, false, func(w *world, page messages.TargetID, _ *chaos.Dialog) { w.b.Crash(page) }, messages.BridgeNative},
		"the frame crashes": {framed, false, func(w *world, page messages.TargetID, _ *chaos.Dialog) { w.b.Crash(messages.TargetID(w.frame(page))) }, messages.BridgeNative},
		"somebody dismisses it, and a frame crashes": {main, false, func(w *world, page messages.TargetID, d *chaos.Dialog) {
			w.b.CloseDialog(d, false, "")
			w.b.Crash(messages.TargetID(w.frame(page)))
		}, messages.BridgeOn},
		"somebody dismisses it, and a frame has crashed long ago": {main, true, func(w *world, _ messages.TargetID, d *chaos.Dialog) {
			w.b.CloseDialog(d, false, "")
		}, messages.BridgeOn},
		"the page crashes, as a frame has long ago": {main, true, func(w *world, page messages.TargetID, _ *chaos.Dialog) { w.b.Crash(page) }, messages.BridgeNative},
	} {
		inWorld(t, name, chaos.Options{Pages: 1}, func(w *world) {
			page := w.page()
			if c.before {
				w.b.Crash(messages.TargetID(w.frame(page)))
				synctest.Wait()
				time.Sleep(time.Second)
			}
			d := w.b.OpenDialog(c.in(w, page), chaos.Confirm, "sure?", "")
			synctest.Wait()
			time.Sleep(soon)
			c.ends(w, page, d)
			time.Sleep(time.Second)
			s := w.snapshot("t")
			if len(s.RecentDialogs) != 1 || s.RecentDialogs[0].ClosedBy != messages.ClosedByRemote || s.Connection.Bridge != c.want {
				w.Errorf("bridge %s, recent %+v", s.Connection.Bridge, s.RecentDialogs)
			}
		})
	}
}
