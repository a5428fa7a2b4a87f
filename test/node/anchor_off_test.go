package node_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/messages"
)

func TestAnchorIsNotForEverybody(t *testing.T) {
	t.Parallel()

	inWorld(t, "anchor off is one link", chaos.Options{Pages: 1}, func(w *world) {
		s := w.start("t", everything, alone)
		time.Sleep(time.Minute)
		if n := w.b.Dials(); n != 1 || s.Connection.AnchorOff != messages.AnchorOffSpec {
			w.Errorf("%d links, %+v", n, s.Connection)
		}
	})

	inWorld(t, "it is taken down and put up with the spec", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything)
		w.links()
		w.start("t", everything, alone)
		synctest.Wait()
		if n := len(w.b.Connections()); n != 1 {
			w.Errorf("%d links", n)
		}
		w.start("t", everything, anchored)
		w.links()
		if s := w.snapshot("t"); s.Connection.Anchor != messages.LinkUp {
			w.Errorf("%+v", s.Connection)
		}
	})

	for name, c := range map[string]struct {
		last    func(*messages.TaskSpec)
		stalled bool // the anchor's end takes its time
		links   int
	}{
		"off in the end":                {last: alone, links: 1},
		"auto in the end":               {last: anchored, links: 2},
		"off, and its end takes a time": {last: alone, stalled: true, links: 1},
		"auto, after such an end":       {last: anchored, stalled: true, links: 2},
	} {
		inWorld(t, "whoever changes his mind at once keeps the task: "+name, chaos.Options{Pages: 1}, func(w *world) {
			w.start("t", everything)
			primary, anchor := w.links()
			if c.stalled {
				anchor.Stall()
			}
			// Each is taken while the anchor of the one before is still stopping.
			for range 3 {
				w.start("t", everything, alone)
				w.start("t", everything, anchored)
			}
			w.start("t", everything, c.last)
			synctest.Wait()
			time.Sleep(time.Second)
			s := w.snapshot("t")
			if up := s.Connection.Anchor == messages.LinkUp; s.State != messages.StateActive || up != (c.links == 2) {
				w.Errorf("%s, %+v", s.State, s.Connection)
			}
			if l := w.b.Connections(); len(l) != c.links || !slices.Contains(l, primary) || slices.Contains(l, anchor) {
				w.Errorf("%d links; the primary of before: %v, the anchor: %v", len(l), slices.Contains(l, primary), slices.Contains(l, anchor))
			}
		})
	}

	inWorld(t, "a service that gives each connection a browser of its own gets none", chaos.Options{Pages: 1}, func(w *world) {
		other := chaos.New(chaos.Options{Seed: 7, Pages: 2})
		w.Cleanup(other.Close)
		w.others = append(w.others, w.b, other)
		w.start("t", everything)
		time.Sleep(time.Minute)
		s := w.snapshot("t")
		if s.Connection.Anchor != messages.LinkDown || s.Connection.AnchorOff != messages.AnchorOffForeign || s.State != messages.StateActive {
			w.Errorf("%+v", s.Connection)
		}
		if n := len(other.Connections()); n != 0 {
			w.Errorf("%d links to the other browser", n)
		}
	})

	inWorld(t, "a browser that takes one connection at a time is left with one", chaos.Options{Pages: 1}, func(w *world) {
		w.single = true
		w.start("t", everything, func(s *messages.TaskSpec) { s.IdleTimeoutS = 12 * 3600 })
		time.Sleep(time.Minute)
		s := w.snapshot("t")
		if s.Connection.AnchorOff != messages.AnchorOffSingle || s.State != messages.StateActive || s.Connection.Reconnects > 5 {
			w.Errorf("%+v", s.Connection)
		}
		// A trial costs the primary, which is dialled again: after one minute, two more,
		// four, eight, and then every quarter of an hour.
		dials := w.b.Dials()
		time.Sleep(time.Hour / 2)
		if n := w.b.Dials() - dials; n < 2*4 || n > 2*6 {
			w.Errorf("%d more dials in half an hour", n)
		}
		dials = w.b.Dials()
		time.Sleep(2 * time.Hour)
		if n := w.b.Dials() - dials; n < 2*6 || n > 2*12 {
			w.Errorf("%d more dials in two hours", n)
		}
		// None is made while a dialog waits: it would be lost by it.
		s = w.snapshot("t")
		w.b.OpenDialog(w.b.MainFrame(s.PageTargetID), chaos.Confirm, "sure?", "")
		dials = w.b.Dials()
		time.Sleep(messages.DefaultDialogTimeout - time.Second)
		if s := w.snapshot("t"); len(s.PendingDialogs) != 1 || w.b.Dials() != dials {
			w.Errorf("%d more dials, dialogs %+v %+v", w.b.Dials()-dials, s.PendingDialogs, s.RecentDialogs)
		}
	})

	inWorld(t, "a second connection that is refused costs the task nothing", chaos.Options{Pages: 1}, func(w *world) {
		w.atMost = 1
		w.start("t", everything)
		time.Sleep(2 * time.Minute)
		s := w.snapshot("t")
		if s.Connection.Anchor != messages.LinkDown || s.Connection.AnchorOff != messages.AnchorOffUnreachable || s.State != messages.StateActive || s.Connection.Reconnects != 0 {
			w.Errorf("%+v", s.Connection)
		}
	})
}
