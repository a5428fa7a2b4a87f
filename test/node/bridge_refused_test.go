package node_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// refusing are the connections that the browser does not give its debugger, as a set of
// bits by their numbers. None may intercept.
type refusing struct{ bits atomic.Uint64 }

func (r *refusing) refuse(connection int, method string) bool {
	domain, _, _ := strings.Cut(method, ".")
	return domain == "Fetch" || domain == "Debugger" && r.bits.Load()&(1<<connection) != 0
}

// asks opens a confirm on a page, and wants it to be one by path that the page is
// answered.
func (w *world) asks(page messages.TargetID, path messages.DialogPath) {
	w.Helper()
	d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
	synctest.Wait()
	s := w.snapshot("t")
	if len(s.PendingDialogs) != 1 || s.PendingDialogs[0].Path != path {
		r, _ := d.Result()
		w.Fatalf("pending %+v, want one %s; the page got %+v", s.PendingDialogs, path, r)
	}
	if _, err := w.answer("t", s.PendingDialogs[0].ID, "me"); err != nil {
		w.Fatal(err)
	}
	if r, _ := d.Result(); r.Text != "me" {
		w.Errorf("the page got %+v", r)
	}
}

func (w *world) shown(bridge messages.Bridge) {
	w.Helper()
	if s := w.snapshot("t"); s.Connection.Bridge != messages.BridgeOn || s.Pages[0].Bridge != bridge {
		w.Errorf("the task's bridge is %q and the page's %q, want %q", s.Connection.Bridge, s.Pages[0].Bridge, bridge)
	}
}

// TestBridgeWhereOneLinkIsRefused: a service may give its debugger to one connection and
// not to the next.
func TestBridgeWhereOneLinkIsRefused(t *testing.T) {
	t.Parallel()
	refused := func(name string, connections uint64, story func(w *world, page messages.TargetID, r *refusing)) {
		r := new(refusing)
		r.bits.Store(connections)
		inWorld(t, name, chaos.Options{Pages: 1, Refuse: r.refuse}, func(w *world) {
			page := w.start("t", everything, bridged).PageTargetID
			time.Sleep(time.Second)
			w.links()
			story(w, page, r)
		})
	}

	refused("an anchor takes nothing from the primary", 1<<2, func(w *world, page messages.TargetID, _ *refusing) {
		w.shown(messages.BridgeOn)
		w.asks(page, messages.PathBridge)
		w.b.Navigate(page, "http://a.test/p")
		synctest.Wait()
		w.asks(page, messages.PathBridge)
	})

	refused("while it stands alone dialogs are native, and bridged again with the primary", 1<<2, func(w *world, page messages.TargetID, _ *refusing) {
		primary, _ := w.links()
		w.b.RefuseConnections(true)
		primary.Drop()
		synctest.Wait()
		w.asks(page, messages.PathNative)
		w.b.Navigate(page, "http://a.test/p")
		synctest.Wait()
		w.asks(page, messages.PathNative)
		w.b.RefuseConnections(false)
		time.Sleep(5 * time.Second)
		w.shown(messages.BridgeOn)
		w.asks(page, messages.PathBridge)
	})

	refused("what the primary is refused the anchor leaves native", 1<<1, func(w *world, page messages.TargetID, _ *refusing) {
		w.shown(messages.BridgeUnavailable)
		w.asks(page, messages.PathNative)
		w.b.Navigate(page, "http://a.test/p")
		synctest.Wait()
		w.asks(page, messages.PathNative)
	})

	refused("also one that comes later, and until a primary is given it", 1<<1, func(w *world, page messages.TargetID, _ *refusing) {
		primary, anchor := w.links()
		anchor.Drop()
		time.Sleep(5 * time.Second)
		w.links()
		w.asks(page, messages.PathNative)
		primary.Drop() // the next is no more the first
		time.Sleep(5 * time.Second)
		w.shown(messages.BridgeOn)
		w.asks(page, messages.PathBridge)
		primary, _ = w.links()
		w.b.RefuseConnections(true)
		primary.Drop()
		synctest.Wait()
		w.asks(page, messages.PathBridge) // the anchor has it as well
	})
}
