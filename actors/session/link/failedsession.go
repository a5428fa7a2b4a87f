package link

import (
	"time"

	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport/quirks"
)

// A session whose actor has failed is given up, and its page attached to anew. No event of it
// is read any more: what waits on the page is not known. A page with a doomed dialog may not be
// left, or the browser ends (C58). So the page is asked first, and moved on from such a dialog.
const (
	timerFailed effect.TimerName = "failed"

	failedAgain  = 20 * time.Millisecond
	failedAsked  = 50
	failedBudget = time.Second // for each question
)

// sessionFailed begins with it, unless the page is being left already.
func (m *Primary) sessionFailed(o mail.ReattachPage) {
	p := m.pages.At(o.Page)
	if p == nil || p.session != o.Failed || p.left == o.Failed || m.isLeaving {
		return
	}
	if m.cfg.Lacks.HasTargets {
		m.fail(messages.Errorf(messages.CodeUpstreamUnavailable, "a page's session has failed, and its browser gives no other"))
		return
	}
	p.failed, p.asked = o.Failed, 0
	m.leaveFailed(o.Page)
}

// leaveFailed asks whether the page of a failed session may be left.
func (m *Primary) leaveFailed(t messages.TargetID) {
	p := m.pages.At(t)
	if !p.hasFailed() || m.isLeaving {
		return
	}
	c := effect.ProbeDialog(mail.ProbeDialog{Session: p.session, Page: t})
	c.Tag.Kind, c.Timeout = TagLeave, failedBudget
	m.do(c)
}

// mayLeave takes the answer.
func (m *Primary) mayLeave(r effect.Replied) {
	t := r.Tag.Page
	p := m.pages.At(t)
	if !p.hasFailed() || r.Tag.Session != p.session || m.isLeaving {
		return
	}
	if p.asked++; quirks.Classify(effect.DialogError(r.Err)) == quirks.InactivePage && p.asked < failedAsked {
		if p.asked == 1 {
			c := effect.MovePage(mail.MovePage{Session: p.session, Page: t})
			c.Tag = effect.Tag{Kind: effect.TagNone}
			m.do(c)
		}
		m.do(effect.Arm{Timer: effect.Timer{Name: timerFailed, Page: t}, After: failedAgain})
		return
	}
	p.isReturning = true
	m.leavePage(p)
	m.reattach(t)
}

// hasFailed says that the actor of the page's session has failed, and that the session is not
// told to leave yet.
func (p *browserPage) hasFailed() bool {
	return p != nil && p.session != "" && p.failed == p.session && p.left != p.session && !p.isClosing
}
