package node_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/internal/node"
	"holdfast/messages"
)

// TestAnAnchorThatWasGivenUpComesBack while the primary stands: the dialog of the
// primary's next loss is what it is for.
func TestAnAnchorThatWasGivenUpComesBack(t *testing.T) {
	t.Parallel()
	isBack := func(w *world, within time.Duration) {
		w.Helper()
		began := time.Now()
		for w.snapshot("t").Connection.Anchor != messages.LinkUp {
			if time.Since(began) > within {
				w.Fatalf("no anchor within %s: %+v", within, w.snapshot("t").Connection)
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(6 * time.Second)
		s := w.snapshot("t")
		d := w.b.OpenDialog(w.b.MainFrame(s.PageTargetID), chaos.Confirm, "sure?", "")
		synctest.Wait()
		primary, _ := w.links()
		primary.Drop()
		time.Sleep(time.Second)
		got, err := w.node.Respond(w.ctx, "t", messages.DialogAnswer{Action: messages.ActionAccept})
		if result, over := d.Result(); err != nil || got.ClosedBy != messages.ClosedByAgent || !over || !result.IsAccepted {
			w.Errorf("the dialog of the next loss: %+v, %v, %+v", got, err, result)
		}
	}

	inWorld(t, "the endpoint took no new connection for 75 s", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		_, anchor := w.links()
		reconnects := w.snapshot("t").Connection.Reconnects
		w.b.RefuseConnections(true)
		anchor.Drop()
		time.Sleep(75 * time.Second)
		if c := w.snapshot("t").Connection; c.AnchorOff != messages.AnchorOffUnreachable {
			w.Errorf("%+v", c)
		}
		w.b.RefuseConnections(false)
		isBack(w, 76*time.Second)
		if n := w.snapshot("t").Connection.Reconnects; n != reconnects+1 { // the loss above
			w.Errorf("%d reconnects", n)
		}
	})

	var isShort atomic.Bool
	inWorldWith(t, "the node had no descriptor for 20 s", chaos.Options{Pages: 1}, func(c *node.Config) {
		c.HTTPClient = &http.Client{Transport: shortOf{c.HTTPClient.Transport, &isShort}}
	}, func(w *world) {
		w.start("t", everything)
		synctest.Wait()
		isShort.Store(true)
		w.b.DropConnections()
		time.Sleep(20 * time.Second)
		isShort.Store(false)
		isBack(w, 5*time.Second)
	})

	inWorld(t, "links that were cut fast looked like a browser of one client", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		synctest.Wait()
		for i := 0; w.snapshot("t").Connection.AnchorOff != messages.AnchorOffSingle; i++ {
			if i == 500 {
				w.Fatalf("no verdict after %d cuts", i)
			}
			links := w.b.Connections()
			if len(links) < 2 {
				time.Sleep(time.Millisecond)
				continue
			}
			links[i%2].Drop()
			synctest.Wait()
		}
		isBack(w, 76*time.Second)
	})
}
