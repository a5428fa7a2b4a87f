package node_test

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// The browser takes back a page's emulated media and network conditions with the end
// of any session on it. The start, the reconnect and the end of another task, and the
// loss of the anchor, leave them as the agent has set them.
func TestOtherTasksChangeNothingOnAPage(t *testing.T) {
	t.Parallel()
	const media, offline = `{"media":"print"}`, `{"offline":true,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}`
	for _, how := range []messages.Isolation{messages.IsolationContext, messages.IsolationShared} {
		inWorld(t, string(how), chaos.Options{Pages: 1}, func(w *world) {
			page := w.start("t", own, isolation(how)).PageTargetID
			w.cdp("t", "", "Emulation.setEmulatedMedia", media)
			w.cdp("t", "", "Network.emulateNetworkConditions", offline)
			stands := func(after string) {
				w.Helper()
				time.Sleep(5 * time.Second)
				synctest.Wait()
				want := map[string]string{"Emulation.setEmulatedMedia": media, "Network.emulateNetworkConditions": offline}
				if got := w.b.Settings(page); !maps.Equal(got, want) {
					w.Fatalf("after %s: %v, want %v", after, got, want)
				}
			}
			stands("nothing")
			mine := w.b.Connections()
			w.start("u", own, isolation(how))
			stands("the start of another task")
			for _, c := range w.b.Connections() {
				if c != mine[0] && c != mine[1] {
					c.Drop()
				}
			}
			stands("its reconnect")
			if err := w.node.StopTask(w.ctx, "u"); err != nil {
				w.Error(err)
			}
			stands("its end")
			_, anchor := w.links()
			anchor.Drop()
			stands("the loss of the anchor")
			primary, _ := w.links()
			primary.Drop()
			stands("the loss of the primary")
		})
	}
}
