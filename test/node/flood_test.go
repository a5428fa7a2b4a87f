package node_test

import (
	"fmt"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/actors/supervisor"
	"holdfast/chaos"
	"holdfast/internal/guard"
	"holdfast/internal/node"
	"holdfast/messages"
)

// staller holds up the next actor of a kind in the midst of its work.
type staller struct {
	kind atomic.Pointer[string]
	gate chan struct{}
}

func (s *staller) install(c *node.Config) {
	c.Intercept = func(m guard.Moment) {
		if kind := s.kind.Load(); kind != nil && m.Kind == *kind && m.Phase == guard.PhaseReceive && s.kind.CompareAndSwap(kind, nil) {
			<-s.gate
		}
	}
}

// stall returns once the actor hangs, after something has been said to it.
func (s *staller) stall(w *world, kind string, nudge func()) (resume func()) {
	w.Helper()
	s.gate = make(chan struct{})
	s.kind.Store(&kind)
	nudge()
	synctest.Wait()
	if s.kind.Load() != nil {
		w.Fatalf("no %s was held up", kind)
	}
	return func() { close(s.gate); synctest.Wait() }
}

// metric is what the node says of a series.
func (w *world) metric(series string) int {
	w.Helper()
	rec := httptest.NewRecorder()
	w.node.MetricsHandler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(rec.Body.String()) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				w.Fatal(err)
			}
			return int(n)
		}
	}
	w.Fatalf("there is no %s", series)
	return 0
}

// TestFloods: a browser says more than can be heard, because an actor hangs.
// What waits is bounded, and afterwards the node knows all there is.
func TestFloods(t *testing.T) {
	t.Parallel()
	flood := func(w *world, c *chaos.Conn, events int, event func(i int) string) {
		for i := 0; i < events; {
			for range 1000 {
				c.SendRaw([]byte(event(i)))
				i++
			}
			synctest.Wait() // the fake browser's own queue is not what is measured
		}
	}
	settled := func(w *world, page messages.TargetID) {
		w.Helper()
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/x")
		time.Sleep(time.Minute)
		s := w.snapshot("t")
		if s.State != messages.StateActive || s.PageState != messages.PageOK || s.Connection.Anchor != messages.LinkUp {
			w.Errorf("state %s (%s), page %s, anchor %s", s.State, s.Reason, s.PageState, s.Connection.Anchor)
		}
		if s.FrameTree == nil || s.FrameTree.Top.URL != "http://a.test/p" || len(s.FrameTree.Children) != 1 || s.FrameTree.Children[0].FrameID != frame {
			w.Errorf("frame tree %+v", s.FrameTree)
		}
		if s.Connection.Reconnects != 1 || w.metric(`holdfast_upstream_reconnects_total{cause="flood",result="ok"}`) != 1 {
			w.Errorf("%d reconnects, of a flood %d", s.Connection.Reconnects, w.metric(`holdfast_upstream_reconnects_total{cause="flood",result="ok"}`))
		}
		if n := len(w.lines.logged("state=recovering", "link closed: flood")); n != 1 {
			w.Errorf("said %d times", n)
		}
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "still there?", "")
		synctest.Wait()
		closed, err := w.node.Respond(w.ctx, "t", messages.DialogAnswer{Action: messages.ActionAccept})
		if err != nil || closed.ClosedBy != messages.ClosedByAgent {
			w.Errorf("%+v, %v", closed, err)
		}
		synctest.Wait() // who has been answered is not the last to hear
		for _, kind := range []string{"session", "supervisor", "browser", "frame", "dialog", "registry"} {
			if n := w.metric(`holdfast_actor_mailbox_length{kind="` + kind + `"}`); n != 0 {
				w.Errorf("%d messages wait for a %s", n, kind)
			}
		}
	}

	for _, kind := range []string{"session", "supervisor"} {
		var s staller
		inWorldWith(t, "of events of a page while its "+kind+" hangs", chaos.Options{Pages: 1}, s.install, func(w *world) {
			page := w.start("t", everything).PageTargetID
			w.b.Navigate(page, "http://a.test/p")
			synctest.Wait()
			session := w.b.Sessions(page)[0].ID
			main := w.b.MainFrame(page)
			primary := w.b.Connections()[0]
			say := func(i int) string {
				return fmt.Sprintf(`{"method":"Page.frameNavigated","sessionId":%q,"params":{"type":"Navigation","frame":{"id":%q,"loaderId":"L%d","url":"http://a.test/%d","domainAndRegistry":"","securityOrigin":"http://a.test","securityOriginDetails":{"isLocalhost":false},"mimeType":"text/html","secureContextType":"Secure","crossOriginIsolatedContextType":"NotIsolated","gatedAPIFeatures":[]}}}`, session, main, i, i)
			}
			resume := s.stall(w, kind, func() { primary.SendRaw([]byte(say(0))) })
			bound, events := guard.DefaultMailbox, 40_000
			if kind == "supervisor" {
				bound = supervisor.Mailbox
			}
			flood(w, primary, events, say)
			if n := w.metric(`holdfast_actor_mailbox_length{kind="` + kind + `"}`); n > bound+100 {
				w.Errorf("%d messages wait, the bound is %d", n, bound)
			} else {
				w.Logf("%d messages wait, the bound is %d", n, bound)
			}
			if n := w.metric(`holdfast_actor_mailbox_shed_total{kind="session"}`) + w.metric(`holdfast_actor_mailbox_shed_total{kind="frame"}`); n == 0 {
				w.Error("nothing was shed")
			}
			resume()
			settled(w, page)
		})
	}
}
