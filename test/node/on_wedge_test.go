package node_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

// patience is what a silent page gets here before on_wedge acts.
const patience = 5 * time.Second

func TestOnWedge(t *testing.T) {
	t.Parallel()
	does := func(a messages.OnWedge) func(*messages.TaskSpec) {
		return func(s *messages.TaskSpec) { s.OnWedge, s.OnWedgeAfterS = a, patience.Seconds() }
	}
	inWorld(t, "release frees a dialog nobody can reach, and touches nothing else", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page(does(messages.OnWedgeRelease))
		d := w.b.OpenDialog(w.b.MainFrame(page), chaos.Confirm, "sure?", "")
		synctest.Wait()
		w.b.DropConnections()
		w.becomes(page, messages.PageDialogUnreachable, time.Second)
		w.becomes(page, messages.PageOK, patience+time.Second)
		if r, ok := d.Result(); !ok || r.By != chaos.ClosedByRelease {
			w.Errorf("the dialog: %+v", r)
		}
		w.b.Crash(page)
		time.Sleep(time.Minute)
		w.becomes(page, messages.PageCrashed, 0)
	})
	inWorld(t, "reload revives a page that crashed", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page(does(messages.OnWedgeReload))
		w.b.Crash(page)
		w.becomes(page, messages.PageOK, time.Second)
	})
	inWorld(t, "reload ends a loop, also one that was there before the link", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page(does(messages.OnWedgeReload))
		w.b.Spin(page)
		w.b.DropConnections()
		w.becomes(page, messages.PageHung, time.Second)
		if took := w.becomes(page, messages.PageOK, patience+5*time.Second); took < patience-time.Second {
			w.Errorf("recovered after %s", took)
		}
		if got := <-w.evaluate(5); got.err != nil {
			w.Error(got.err)
		}
	})
	inWorld(t, "a page that works for less than the patience keeps its document", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page(does(messages.OnWedgeReload))
		w.b.Spin(page)
		call := w.evaluate(30)
		w.becomes(page, messages.PageHung, time.Second)
		time.Sleep(patience - 2*time.Second)
		w.b.Unspin(page)
		if got := <-call; got.err != nil {
			w.Error(got.err)
		}
		time.Sleep(time.Minute)
		for _, method := range w.b.Connections()[0].Received("*") {
			if method == "Page.reload" || method == "Runtime.terminateExecution" {
				w.Errorf("the page was given %s", method)
			}
		}
	})
	inWorld(t, "close closes it", chaos.Options{Pages: 2}, func(w *world) {
		page := w.page(does(messages.OnWedgeClose))
		w.b.Crash(page)
		if s := w.snapshot("t"); len(s.Pages) != 1 || s.Pages[0].TargetID == page {
			w.Errorf("pages %+v", s.Pages)
		}
	})
	inWorld(t, "report does nothing", chaos.Options{Pages: 1}, func(w *world) {
		page := w.wedged("a dialog that the link was lost under", does(messages.OnWedgeReport))
		time.Sleep(time.Minute)
		w.becomes(page, messages.PageDialogUnreachable, 0)
	})
	inWorld(t, "a page that wedges again and again is left, and that is said once", chaos.Options{Pages: 1}, func(w *world) {
		page := w.page(does(messages.OnWedgeReload))
		for range 3 {
			w.b.Crash(page)
			w.becomes(page, messages.PageOK, time.Second)
		}
		w.b.Crash(page)
		w.becomes(page, messages.PageCrashed, 0)
		time.Sleep(time.Minute)
		w.becomes(page, messages.PageCrashed, 0)
		if n := w.lines.count("wedges again and again"); n != 1 {
			w.Errorf("said %d times", n)
		}
		// It is a fresh start once an agent has recovered it and time has passed.
		if _, err := w.recover(messages.RecoverReload); err != nil {
			w.Fatal(err)
		}
		w.b.Crash(page)
		w.becomes(page, messages.PageOK, time.Second)
	})
}

func TestAStarvedMachineIsNoHungPage(t *testing.T) {
	t.Parallel()
	inWorld(t, "when everything is slow, nothing is said of the page", chaos.Options{Pages: 1}, func(w *world) {
		var slow atomic.Bool
		w.between = func(bool, []byte) bool {
			if slow.Load() {
				time.Sleep(700 * time.Millisecond)
			}
			return true
		}
		w.page()
		slow.Store(true)
		call := w.evaluate(30)
		for range 100 {
			time.Sleep(50 * time.Millisecond)
			if s := w.snapshot("t"); s.PageState != messages.PageOK {
				w.Fatalf("the page is said to be %s", s.PageState)
			}
		}
		if got := <-call; got.err != nil {
			w.Error(got.err)
		}
		slow.Store(false)
		time.Sleep(time.Minute) // what was sent arrives
	})
	inWorld(t, "a link that is dead is found so, and no page is blamed", chaos.Options{Pages: 1}, func(w *world) {
		w.page()
		w.b.RefuseConnections(true)
		w.b.Connections()[0].Stall()
		began := time.Now()
		call := w.evaluate(30)
		for w.snapshot("t").Connection.Primary == messages.LinkUp {
			if s := w.snapshot("t"); s.PageState != messages.PageOK {
				w.Fatalf("the page is said to be %s", s.PageState)
			}
			time.Sleep(10 * time.Millisecond)
		}
		// Here even a ping cannot be written; the deadline of writes is 10 s.
		if took := time.Since(began); took > 11*time.Second {
			w.Errorf("found after %s", took)
		}
		if got := <-call; !errors.Is(got.err, &messages.Error{Code: messages.CodeUpstreamUnavailable}) {
			w.Error(got.err)
		}
	})
}
