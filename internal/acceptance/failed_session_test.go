package acceptance_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/guard"
	"holdfast/internal/node"
	"holdfast/messages/mail"
)

// TestAFailedSession: the actor of a page's session fails at the report of a dialog. The
// session is given up under the open dialog, which the anchor has reported, and the page is
// attached to anew with its frames.
func TestAFailedSession(t *testing.T) {
	t.Parallel()
	var armed atomic.Bool
	p := setupOn(t, chromiumtest.Shared(t), func(c *node.Config) {
		c.Intercept = func(m guard.Moment) {
			if m.Kind == "session" && m.Phase == guard.PhaseReceive && isReport(m.Msg) && armed.CompareAndSwap(true, false) {
				panic("injected")
			}
		}
	}).patient("failed-session")
	p.goTo("http://a.test/oopif")
	p.both()
	p.eval("", "window.here = 'kept'")
	p.frame("/plain")
	before := p.snapshot().Pages[0].SessionID
	armed.Store(true)
	p.later("", "window.got = prompt('who?')")
	d := p.dialog()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if s := p.snapshot(); !armed.Load() && s.Pages[0].SessionID != "" && s.Pages[0].SessionID != before {
			if len(s.PendingDialogs) != 1 || s.PendingDialogs[0].ID != d.ID || s.Connection.Reconnects != 0 {
				t.Fatalf("afterwards: %+v", s)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the page has no other session: armed %t, %+v", armed.Load(), p.snapshot())
		}
	}
	p.accept("through")
	if got := p.eval("", "window.got + ' ' + window.here"); got != `"through kept"` {
		t.Errorf("the page has %s", got)
	}
	if got := p.eval(p.frame("/plain").FrameID, "1 + 1"); got != "2" {
		t.Errorf("the frame says %s", got)
	}
}

// isReport says that a session's actor is given what its browser reports, and not a reply, a timer or
// a word of another actor, which may come at any time.
func isReport(msg any) bool {
	_, isDialog := msg.(mail.DialogOpened)
	return isDialog || fmt.Sprintf("%T", msg) == "*session.said"
}
