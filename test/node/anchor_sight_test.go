package node_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// unseen has a dialog open on a page whose Page.enable the anchor has sent and has
// heard nothing of, nor of the dialog; and then the primary fall.
func (w *world) unseen() (d *chaos.Dialog, anchor *chaos.Conn) {
	w.Helper()
	w.start("t", everything)
	primary, anchor := w.links()
	anchor.DelayReplies("Page.enable", time.Minute)
	page := w.b.NewPage("http://a.test/p")
	if s := w.snapshot("t"); len(s.Pages) != 2 {
		w.Fatalf("pages %+v", s.Pages)
	}
	anchor.Stall()
	d = w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "who?", "")
	if s := w.snapshot("t"); len(s.PendingDialogs) != 1 {
		w.Fatalf("pending %+v", s.PendingDialogs)
	}
	w.b.RefuseConnections(true)
	primary.Drop()
	synctest.Wait()
	return d, anchor
}

// What the primary had reported when it fell, and the anchor has seen as well, before the
// machine knew that it watched.
func TestADialogThatOnlyThePrimaryToldOf(t *testing.T) {
	t.Parallel()
	inWorld(t, "is answered once the anchor tells of it", chaos.Options{Pages: 1}, func(w *world) {
		d, anchor := w.unseen()
		if s := w.snapshot("t"); len(s.PendingDialogs) != 1 || len(s.RecentDialogs) != 0 {
			w.Fatalf("pending %+v, recent %+v", s.PendingDialogs, s.RecentDialogs)
		}
		answering := begin(w, func(context.Context) (messages.ClosedDialog, error) { return w.answer("t", "d-1", "me") })
		time.Sleep(time.Second)
		anchor.Resume()
		if got := <-answering; got.err != nil || got.value.(messages.ClosedDialog).ClosedBy != messages.ClosedByAgent {
			w.Errorf("answer %+v", got)
		}
		if r, _ := d.Result(); r.Text != "me" || r.Conn != anchor.Number() {
			w.Errorf("the page got %+v", r)
		}
	})
	inWorld(t, "is lost in the end if the anchor says nothing", chaos.Options{Pages: 1}, func(w *world) {
		w.unseen()
		answering := begin(w, func(context.Context) (messages.ClosedDialog, error) { return w.answer("t", "d-1", "me") })
		got := <-answering
		w.want(messages.CodeDialogLost, got.err)
		if got.after != 2*time.Second {
			w.Errorf("after %s", got.after)
		}
		if s := w.snapshot("t"); len(s.PendingDialogs) != 0 || len(s.RecentDialogs) != 1 || s.RecentDialogs[0].ClosedBy != messages.ClosedByLost {
			w.Errorf("pending %+v, recent %+v", s.PendingDialogs, s.RecentDialogs)
		}
	})
}
