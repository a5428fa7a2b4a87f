package node_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// native wants a confirm of each frame to be a native dialog, which is answered.
func (w *world) native(frames ...messages.FrameID) {
	w.Helper()
	for _, f := range frames {
		d := w.b.OpenDialog(f, chaos.Prompt, "who?", "")
		synctest.Wait()
		s := w.snapshot("t")
		if len(s.PendingDialogs) != 1 || s.PendingDialogs[0].Path != messages.PathNative {
			r, _ := d.Result()
			w.Fatalf("pending %+v, want one native; the page got %+v", s.PendingDialogs, r)
		}
		if _, err := w.answer("t", s.PendingDialogs[0].ID, "me"); err != nil {
			w.Fatal(err)
		}
		if r, _ := d.Result(); r.Text != "me" {
			w.Errorf("the page got %+v", r)
		}
	}
}

// away drops every link, runs do while no link is there, and waits for the next.
func (w *world) away(do func()) {
	w.Helper()
	w.b.RefuseConnections(true)
	for _, c := range w.b.Connections() {
		c.Drop()
	}
	synctest.Wait()
	do()
	w.b.RefuseConnections(false)
	time.Sleep(15 * time.Second)
}

// framed is a page with a frame of its own process, and one of another.
func (w *world) framed(page messages.TargetID) []messages.FrameID {
	w.b.Navigate(page, "http://a.test/p")
	synctest.Wait()
	main := w.b.MainFrame(page)
	same, other := w.b.AddFrame(main, "http://a.test/f"), w.b.AddFrame(main, "http://b.test/f")
	time.Sleep(time.Second)
	return []messages.FrameID{main, same, other}
}

// TestBridgeThatTheNextLinkHasNot: what a link has left on in the documents that are
// there is turned off by sessions that never had it.
func TestBridgeThatTheNextLinkHasNot(t *testing.T) {
	t.Parallel()
	off := func(s *messages.TaskSpec) { s.Bridge = messages.BridgeOff }
	debugger := func(_ int, method string) bool { return strings.HasPrefix(method, "Debugger.") }
	for name, links := range map[string]func(*messages.TaskSpec){"one link": alone, "two links": func(*messages.TaskSpec) {}} {
		for by, refuse := range map[messages.BridgeBy]func(int, string) bool{"debugger": nil, "request": debugger} {
			inWorld(t, name+", turned off while nobody is connected, by "+string(by), chaos.Options{Pages: 1, Refuse: refuse}, func(w *world) {
				page := w.start("t", everything, bridged, links).PageTargetID
				frames := w.framed(page)
				if got := w.snapshot("t").Connection.BridgeBy; got != by {
					t.Fatalf("the bridge is by %q", got)
				}
				w.away(func() {
					begin(w, func(ctx context.Context) (*messages.Snapshot, error) {
						spec := w.spec()
						everything(&spec)
						links(&spec)
						off(&spec)
						s, _, err := w.node.GetOrStart(ctx, "t", spec)
						return s, err
					})
					synctest.Wait()
				})
				w.native(frames...)
				if by == "debugger" {
					w.start("t", everything, bridged, links)
					time.Sleep(time.Second)
					w.asks(page, messages.PathBridge)
				}
			})
		}

		var deaf atomic.Bool
		refuse := func(connection int, method string) bool {
			return debugger(connection, method) || deaf.Load() && method == "Fetch.enable"
		}
		inWorld(t, name+", requests refused by the next", chaos.Options{Pages: 1, Refuse: refuse}, func(w *world) {
			page := w.start("t", everything, bridged, links).PageTargetID
			frames := w.framed(page)
			w.away(func() { deaf.Store(true) })
			w.shown(messages.BridgeUnavailable)
			w.native(frames...)
		})
	}

	inWorld(t, "a task that never had it says nothing of it", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything, off)
		w.away(func() {})
		for _, c := range w.b.Connections() {
			if list := c.Received("*"); slices.Contains(list, "Page.addScriptToEvaluateOnNewDocument") {
				w.Errorf("told %v", list)
			}
		}
	})
}
