package acceptance_test

import (
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// succeeded ends the browser behind p and puts another one in its place.
func succeeded(t *testing.T, b *chromiumtest.Browser, p *chromiumtest.FaultProxy) {
	t.Helper()
	next := chromiumtest.Launch(t)
	p.Lead(next.Addr())
	b.Kill(t)
}

func TestA13_ABrowserThatRestarted(t *testing.T) {
	t.Parallel()
	t.Run("scope own", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Launch(t)
		r, p := proxied(t, b)
		k := r.task("restart-own", at(t, "http://"+p.Addr()))
		k.goTo("http://a.test/oopif-prompt")
		child := k.frame("/prompt")
		page := k.snapshot().PageTargetID
		k.later(child.FrameID, "ask()")
		d := k.dialog()
		p.KillAll() // a transport that drops …
		k.reconnected(1)
		if s := k.snapshot(); s.Connection.BrowserRestarts != 0 || s.PageTargetID != page {
			t.Fatalf("after a drop: %+v", s)
		}
		succeeded(t, b, p) // … and a browser
		s := k.await("the new browser's tab", func(s *messages.Snapshot) bool {
			return s.Connection.BrowserRestarts == 1 && s.State == messages.StateActive
		})
		if len(s.Pages) != 1 || s.PageTargetID == page || s.PageState != messages.PageOK || len(s.PendingDialogs) != 0 {
			t.Errorf("after a restart: %+v", s)
		}
		if c := k.closed(d.ID); c.ClosedBy != messages.ClosedByLost && c.ClosedBy != messages.ClosedByRemote {
			t.Errorf("dialog %+v", c)
		}
		if s.FrameTree == nil || len(s.FrameTree.Children) != 0 {
			t.Errorf("frames %+v", s.FrameTree)
		}
		if n := r.log.lines("level=WARN", "task=restart-own", "another browser answers"); n != 1 {
			t.Errorf("said %d times", n)
		}
		_, err := k.tryEval(child.FrameID, "1")
		wantCode(t, err, messages.CodeFrameNotFound)
		k.goTo("http://a.test/plain")
		if got := k.eval("", "document.title"); got != `"/plain"` {
			t.Errorf("title %s", got)
		}
	})
	t.Run("scope target", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Launch(t)
		r, p := proxied(t, b)
		page := chromiumtest.Dial(t, b.WS()).NewPage("").Target
		k := r.task("restart-target", at(t, "http://"+p.Addr()), scoped(messages.ScopeTarget, page))
		succeeded(t, b, p)
		s := k.await("the end", func(s *messages.Snapshot) bool { return !s.Active })
		if s.State != messages.StateLost || s.Reason != "the browser has no page "+page {
			t.Errorf("state %s: %q", s.State, s.Reason)
		}
	})
}
