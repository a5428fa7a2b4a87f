package node_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

func TestConsoleAcrossLinks(t *testing.T) {
	t.Parallel()

	texts := func(s *messages.Snapshot) (all []string) {
		for _, e := range s.ConsoleErrors {
			all = append(all, e.Text)
		}
		return all
	}

	inWorld(t, "each error is reported once, whatever the browser repeats", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		synctest.Wait() // it runs
		w.b.LogError(w.b.MainFrame(page), "of the page")
		w.b.LogError(frame, "of the frame")
		want := []string{"of the page", "of the frame"}
		for i := range 20 {
			w.b.DropConnections()
			down := fmt.Sprintf("while the link was down, the %dth time", i)
			w.b.LogError(frame, down)
			want = append(want, down)
			if got := texts(w.snapshot("t")); !slices.Equal(got, want) {
				w.Fatalf("after drop %d:\n got %q\nwant %q", i+1, got, want)
			}
		}
	})

	inWorld(t, "the events say it once as well", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		stream, err := w.node.Watch(w.ctx, "t", w.snapshot("t").Version, true)
		if err != nil {
			w.Fatal(err)
		}
		defer stream.Close()
		w.b.ThrowException(w.b.MainFrame(page), "late")
		for range 3 {
			synctest.Wait()
			w.b.DropConnections()
		}
		last := w.snapshot("t").Version
		told := 0
		for seen := uint64(0); seen < last; {
			events, err := stream.Next(w.ctx)
			if err != nil {
				w.Fatal(err)
			}
			for _, e := range events {
				seen = e.Version
				if e.Type == messages.EventConsoleError {
					told++
				}
			}
		}
		if told != 1 {
			w.Errorf("told %d times", told)
		}
	})

	inWorld(t, "a page that is released repeats itself to nobody", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		w.b.Navigate(page, "http://a.test/p")
		w.b.LogError(w.b.MainFrame(page), "before")
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		w.b.OpenDialog(frame, chaos.Confirm, "sure?", "")
		synctest.Wait()
		w.b.RemoveFrame(frame) // poisons the dialog: the page is released
		time.Sleep(10 * time.Second)
		s := w.snapshot("t")
		if s.PageState != messages.PageOK || len(w.b.Sessions(page)) != 2 { // the primary's and the anchor's
			w.Fatalf("page %s, sessions %+v", s.PageState, w.b.Sessions(page))
		}
		w.b.LogError(w.b.MainFrame(page), "after")
		if got := texts(w.snapshot("t")); !slices.Equal(got, []string{"before", "after"}) {
			w.Errorf("console %q", got)
		}
	})

	inWorld(t, "a ring's worth of errors is not said again", chaos.Options{Pages: 1}, func(w *world) {
		page := w.start("t", everything).PageTargetID
		for i := range 600 { // more than are known one by one
			w.b.LogError(w.b.MainFrame(page), fmt.Sprint(i))
		}
		before := w.snapshot("t").ConsoleErrors
		w.b.DropConnections()
		if got := w.snapshot("t").ConsoleErrors; !slices.Equal(got, before) {
			w.Errorf("%d before, %d after: %v", len(before), len(got), got)
		}
	})
}
