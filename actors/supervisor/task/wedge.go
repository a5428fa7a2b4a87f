package task

import (
	"strings"
	"time"

	"holdfast/actors/supervisor/admit"
	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The bounds of what a task does by itself: a page that wedges again and again
// is left alone and reported.
const (
	maxAutomatic  = 3
	automaticCalm = 10 * time.Second // after which the count begins anew
)

// attend looks after the pages at the end of a step: dialogs that were lost,
// recoveries that wait for an attach, and what the spec wants done about a page
// that does not answer. attached says that the link may only just have come up.
func (m *Machine) attend(now time.Time, attached bool) {
	if m.Conn.Primary != messages.LinkUp || m.IsStopping() || m.HasFinished() {
		m.Turned = nil
		return
	}
	if attached {
		m.Turned = append(m.Turned[:0], m.Order...)
	}
	if len(m.Orphaned)+len(m.Recovering) > 0 {
		for _, t := range m.Order {
			if o, ok := m.Orphaned[t]; ok {
				m.checkOrphan(t, o)
			}
			if r := m.Recovering[t]; r != nil {
				m.goOn(t, r)
			}
		}
	}
	for len(m.Turned) > 0 {
		t := m.Turned[0]
		m.Turned = m.Turned[1:]
		if m.Pages.At(t) != nil {
			m.onWedge(now, t)
		}
	}
}

// dialogLost remembers that a dialog may be left on its page, and asks the
// frame's session whether it is: from then on its word counts.
func (m *Machine) dialogLost(d messages.ClosedDialog) {
	if p := m.Pages.At(d.TargetID); p == nil || p.IsDoomed {
		return // a doomed page is moved on already
	}
	smallmap.Put(&m.Orphaned, d.TargetID, model.Orphan{Frame: d.FrameID, Type: d.Type})
	s := m.Holder(messages.Dialog{TargetID: d.TargetID, FrameID: d.FrameID})
	if e := m.Sessions.At(s); e != nil {
		e.HasAnswered = false
		m.ToSession(s, mail.ProbeSession{MustReport: true})
	}
}

// checkOrphan forgets a dialog whose frame runs again, and frees the page of
// one whose frame is gone.
func (m *Machine) checkOrphan(t messages.TargetID, o model.Orphan) {
	p := m.Pages.At(t)
	if p.IsPoisoned || !m.IsAttachedWhole(t) {
		return
	}
	if !m.HasFrame(t, o.Frame) {
		// Unless the tree lacks it because it is below one that cannot tell of it.
		if m.IsHeardWhole(t) {
			m.becomePoisoned(t)
		}
		return
	}
	if m.IsLeftByItsSession(t, o.Frame) {
		return // going, or gone already: the tree will tell
	}
	if e := m.Sessions.At(m.Holder(messages.Dialog{TargetID: t, FrameID: o.Frame})); e != nil && e.HasAnswered {
		m.Forgive(t)
		m.PageChanged(t)
	}
}

// pageUnreachable says at once what the frame that asked will say of itself in
// a moment.
func (m *Machine) pageUnreachable(u mail.PageUnreachable) {
	p := m.Pages.At(u.Page)
	if p == nil {
		return
	}
	p.IsStuck = true
	if u.IsPoisoned {
		m.becomePoisoned(u.Page)
		return
	}
	m.PageChanged(u.Page)
}

// becomePoisoned is for a page with a dialog whose frame is gone. The frame waits for
// nothing, so freeing the page decides nothing for an agent; left as it is, the next dialog
// on it, or navigation, would end the whole browser (C15).
func (m *Machine) becomePoisoned(t messages.TargetID) {
	p := m.Pages.At(t)
	p.IsStuck = true
	if !p.IsPoisoned {
		p.IsPoisoned = true
		m.Arm(timerRelease+string(t), releaseGrace)
	}
	m.PageChanged(t)
}

func (m *Machine) freePoisoned(t messages.TargetID) {
	p := m.Pages.At(t)
	switch {
	case p == nil, !p.IsPoisoned, m.IsLapsed: // lease looks at it again
		return
	case m.IsUnsettled(t):
		m.Arm(timerRelease+string(t), releaseGrace)
		return
	case p.Session == "", m.IsStopping():
		return // the next attach frees it; and the end does, with both links
	}
	if m.Recovering[t] == nil {
		m.beginRecovery(t, messages.RecoverRelease, 0)
	}
}

const timerWedge = "wedge:"

// handleWedgeTimer has a page looked at again that has been silent for long.
func (m *Machine) handleWedgeTimer(name string) bool {
	t, ok := strings.CutPrefix(name, timerWedge)
	if ok && m.Pages.At(messages.TargetID(t)) != nil {
		m.Turned = append(m.Turned, messages.TargetID(t))
	}
	return ok
}

// onWedge does what the spec wants done about a page in its state, once each
// time it comes to be in it. A crash is certain. Silence may be the machine's,
// a page's that starts or one's that works: it has to last, and the page to have
// answered before, since all that would be done about it loses something.
func (m *Machine) onWedge(now time.Time, t messages.TargetID) {
	if m.IsLapsed {
		return
	}
	p := m.Pages.At(t)
	state := m.PageState(t)
	action := m.Spec.OnWedge.For(state)
	if action == messages.RecoverReload && m.IsStranded(t) {
		action = messages.RecoverReplace // the one that brings it back
	}
	if action == "" || m.Recovering[t] != nil || p.IsPoisoned || p.Session == "" || m.IsUnsettled(t) || admit.Forbids(m.Known(t), action) != nil {
		return
	}
	if state != messages.PageCrashed {
		if !p.HasAnswered {
			return
		}
		if left := m.Spec.OnWedgeAfter() - now.Sub(p.Since); left > 0 {
			m.Arm(timerWedge+string(t), left)
			return
		}
		if m.MayShare(t) {
			m.Arm(timerWedge+string(t), messages.MinOnWedgeAfter)
			return
		}
	}
	if p.Since.Sub(p.Auto.Last) > automaticCalm {
		p.Auto = model.Automatic{}
	}
	if p.Auto.Times == maxAutomatic {
		if !p.Auto.IsLeft {
			p.Auto.IsLeft = true
			m.Do(step.Warn{Text: "a page wedges again and again, it is left as it is", Page: t})
		}
		return
	}
	p.Auto.Times++
	p.Auto.Last = now
	m.beginRecovery(t, action, 0)
}
