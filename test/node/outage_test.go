package node_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/chaos"
	"holdfast/internal/node"
	"holdfast/messages"
)

// backWithin is how soon after the end of an outage 99 of 100 tasks are back.
const backWithin = 3 * time.Second

// TestNoTaskIsLostToAnOutage has a browser take no connections for a while, with 200
// tasks on it: none is lost, and all are back soon after.
func TestNoTaskIsLostToAnOutage(t *testing.T) {
	t.Parallel()
	const tasks = 200
	for _, lasts := range []time.Duration{time.Second, 3 * time.Second, 5 * time.Second, 30 * time.Second, 100 * time.Second} {
		inWorld(t, lasts.String(), chaos.Options{}, func(w *world) {
			// A browser each, behind one address: what an attach costs in a full browser is
			// another matter.
			browsers, beside := make([]*chaos.Browser, tasks), map[string]*chaos.Browser{}
			for i := range browsers {
				browsers[i] = chaos.New(chaos.Options{Seed: uint64(i) + 1, Pages: 1})
				beside[browsers[i].Path()] = browsers[i]
			}
			w.beside = beside // the server reads it from the first link on
			ids := make([]messages.TaskID, tasks)
			for i, b := range browsers {
				ids[i] = messages.TaskID(fmt.Sprint("t", i))
				w.start(ids[i], everything, func(s *messages.TaskSpec) { s.CDPURL = w.url(b) })
			}
			synctest.Wait()
			for _, b := range w.beside {
				b.RefuseConnections(true)
				b.DropConnections()
			}
			time.Sleep(lasts)
			for _, b := range w.beside {
				b.RefuseConnections(false)
			}
			over := time.Now()
			var took []time.Duration
			left := slices.Clone(ids)
			for len(left) > 0 && time.Since(over) < time.Minute {
				synctest.Wait()
				left = slices.DeleteFunc(left, func(id messages.TaskID) bool {
					s := w.snapshot(id)
					switch {
					case !s.Active:
						w.Fatalf("%s is %s: %s", id, s.State, s.Reason)
					case s.State != messages.StateActive:
						return false
					}
					if c := s.Connection; c.RecoveringSince != 0 || c.Attempt != 0 || c.GiveUpAfterS != 0 || c.LastError != "" || c.Reconnects != 1 {
						w.Errorf("%s is back and says %+v", id, c)
					}
					took = append(took, time.Since(over))
					return true
				})
				time.Sleep(10 * time.Millisecond)
			}
			if len(took) < tasks {
				w.Fatalf("%d of %d tasks are back", len(took), tasks)
			}
			if p99 := took[tasks*99/100-1]; p99 > backWithin {
				w.Errorf("p99 %s, longest %s", p99, took[tasks-1])
			}
			w.Logf("p50 %s, p99 %s, longest %s", took[tasks/2], took[tasks*99/100-1], took[tasks-1])
		})
	}
}

// TestRecoveringSaysHowFarItIs: what is shown of a link that is missed, and that a spec
// changes how long it is tried for in the middle of it.
func TestRecoveringSaysHowFarItIs(t *testing.T) {
	t.Parallel()

	inWorld(t, "attempts, and the last error", chaos.Options{Pages: 1}, func(w *world) {
		w.start("t", everything, alone)
		lost := time.Now()
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		c := w.snapshot("t").Connection
		if c.RecoveringSince != messages.SecondsOf(lost) || c.Attempt != 1 || c.GiveUpAfterS != 120 || c.LastError == "" {
			w.Errorf("%+v", c)
		}
		time.Sleep(12 * time.Second)
		after := w.snapshot("t").Connection
		if after.Attempt < 7 || after.Attempt > 14 || after.RecoveringSince != c.RecoveringSince || after.LastError != "it does not answer like a browser's debugging port" {
			w.Errorf("%+v", after)
		}
		if _, _, err := w.node.GetOrStart(w.ctx, "t", messages.TaskSpec{GiveUpAfterS: 600}); messages.CodeOf(err) != "" {
			w.Fatal(err)
		}
		if c := w.snapshot("t").Connection; c.GiveUpAfterS != 600 {
			w.Errorf("%+v", c)
		}
		time.Sleep(9 * time.Minute)
		if s := w.snapshot("t"); s.State != messages.StateRecovering {
			w.Errorf("%s: %s", s.State, s.Reason)
		}
		if _, _, err := w.node.GetOrStart(w.ctx, "t", messages.TaskSpec{GiveUpAfterS: 5}); messages.CodeOf(err) != "" {
			w.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		if s := w.snapshot("t"); s.State != messages.StateLost || s.Connection.LastError != "" || s.Connection.Attempt != 0 {
			w.Errorf("%+v", s)
		}
	})

	inWorldWith(t, "the node's default, which a spec goes before", chaos.Options{}, within(messages.Limits{GiveUpAfter: 20 * time.Second, MemoryHigh: -1}), func(w *world) {
		w.start("short", own)
		w.start("long", own, func(s *messages.TaskSpec) { s.GiveUpAfterS = 40 })
		w.b.RefuseConnections(true)
		w.b.DropConnections()
		for _, c := range []struct {
			after       time.Duration
			short, long messages.TaskState
		}{
			{19 * time.Second, messages.StateRecovering, messages.StateRecovering},
			{5 * time.Second, messages.StateLost, messages.StateRecovering},
			{15 * time.Second, messages.StateLost, messages.StateRecovering},
			{6 * time.Second, messages.StateLost, messages.StateLost},
		} {
			time.Sleep(c.after)
			if short, long := w.snapshot("short").State, w.snapshot("long").State; short != c.short || long != c.long {
				w.Errorf("%s and %s, want %s and %s", short, long, c.short, c.long)
			}
		}
	})
}

// TestAShortageOfTheNodeIsNoFailureOfItsLinks: a node without a file descriptor gives no
// task up for it, and neither an anchor; it says so, and recovers by itself.
func TestAShortageOfTheNodeIsNoFailureOfItsLinks(t *testing.T) {
	t.Parallel()
	var isShort atomic.Bool
	short := func(c *node.Config) {
		c.HTTPClient.Transport = shortOf{c.HTTPClient.Transport, &isShort}
	}
	inWorldWith(t, "no descriptor for ten minutes", chaos.Options{Pages: 1}, short, func(w *world) {
		w.start("t", everything, func(s *messages.TaskSpec) { s.GiveUpAfterS = 5 })
		synctest.Wait()
		isShort.Store(true)
		w.b.DropConnections()
		time.Sleep(10 * time.Minute)
		const says = "this node has no file descriptor left (LimitNOFILE)"
		s := w.snapshot("t")
		if s.State != messages.StateRecovering || s.Connection.LastError != says || s.Connection.AnchorOff != "" {
			w.Errorf("%+v", s)
		}
		if err := w.node.Ready(); err == nil || !strings.Contains(err.Error(), says) {
			w.Errorf("ready: %v", err)
		}
		if _, _, err := w.node.GetOrStart(w.ctx, "another", w.spec()); err == nil || !strings.Contains(err.Error(), says) {
			w.Errorf("a start: %v", err)
		}
		isShort.Store(false)
		time.Sleep(2 * time.Second)
		if s := w.snapshot("t"); s.State != messages.StateActive {
			w.Errorf("%+v", s)
		}
		time.Sleep(9 * time.Second)
		if err := w.node.Ready(); err != nil {
			w.Error(err)
		}
		// The anchor alone.
		isShort.Store(true)
		_, anchor := w.links()
		anchor.Drop()
		time.Sleep(10 * time.Minute)
		if c := w.snapshot("t").Connection; c.AnchorOff != "" || c.Anchor == messages.LinkUp {
			w.Errorf("%+v", c)
		}
		isShort.Store(false)
		time.Sleep(3 * time.Second)
		if c := w.snapshot("t").Connection; c.Anchor != messages.LinkUp {
			w.Errorf("%+v", c)
		}
	})
}

// shortOf is a transport without a file descriptor, now and then.
type shortOf struct {
	next http.RoundTripper
	on   *atomic.Bool
}

func (s shortOf) RoundTrip(r *http.Request) (*http.Response, error) {
	if s.on.Load() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	}
	return s.next.RoundTrip(r)
}
