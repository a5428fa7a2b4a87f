package supervisor

import (
	"strings"
	"time"

	"holdfast/actors/supervisor/admit"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// orphan is a dialog that was lost: it may stand open still, without a session that can
// answer it, until its frame shows a sign of life or is gone.
type orphan struct {
	frame messages.FrameID
	typ   messages.DialogType
}

// automatic is what a task has done by itself about one of its pages.
type automatic struct {
	times int       // in a row
	last  time.Time // when the newest began
	left  bool      // it was said that no more is done
}

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
	if m.conn.Primary != messages.LinkUp || m.stopping() || m.finished() {
		m.turned = nil
		return
	}
	if attached {
		m.turned = append(m.turned[:0], m.order...)
	}
	if len(m.orphaned)+len(m.recovering) > 0 {
		for _, t := range m.order {
			if o, ok := m.orphaned[t]; ok {
				m.checkOrphan(t, o)
			}
			if r := m.recovering[t]; r != nil {
				m.goOn(t, r)
			}
		}
	}
	for len(m.turned) > 0 {
		t := m.turned[0]
		m.turned = m.turned[1:]
		if m.pages.At(t) != nil {
			m.onWedge(now, t)
		}
	}
}

// dialogLost remembers that a dialog may be left on its page, and asks the
// frame's session whether it is: from then on its word counts.
func (m *Machine) dialogLost(d messages.ClosedDialog) {
	if p := m.pages.At(d.TargetID); p == nil || p.doomed {
		return // a doomed page is moved on already
	}
	smallmap.Put(&m.orphaned, d.TargetID, orphan{d.FrameID, d.Type})
	s := m.holder(messages.Dialog{TargetID: d.TargetID, FrameID: d.FrameID})
	if e := m.sessions.At(s); e != nil {
		e.heard = false
		m.do(ToSession{s, mail.ProbeSession{Report: true}})
	}
}

// checkOrphan forgets a dialog whose frame runs again, and frees the page of
// one whose frame is gone.
func (m *Machine) checkOrphan(t messages.TargetID, o orphan) {
	p := m.pages.At(t)
	if p.poisoned || !m.attachedWhole(t) {
		return
	}
	if !m.hasFrame(t, o.frame) {
		// Unless the tree lacks it because it is below one that cannot tell of it.
		if m.heardWhole(t) {
			m.becomePoisoned(t)
		}
		return
	}
	if m.leftByItsSession(t, o.frame) {
		return // going, or gone already: the tree will tell
	}
	if e := m.sessions.At(m.holder(messages.Dialog{TargetID: t, FrameID: o.frame})); e != nil && e.heard {
		m.forgive(t)
		m.pageChanged(t)
	}
}

// forgive takes back what was held against a page.
func (m *Machine) forgive(t messages.TargetID) {
	p := m.pages.At(t)
	p.stuck, p.poisoned = false, false
	delete(m.orphaned, t)
}

// attachedWhole says that every session of a page has answered or been
// classified, and so that the tree is all it can be.
func (m *Machine) attachedWhole(t messages.TargetID) bool {
	if m.pages.At(t).session == "" {
		return false
	}
	for _, e := range m.sessions.All() {
		if e.cfg.Page == t && (!e.ready || e.retells) {
			return false
		}
	}
	return true
}

// heardWhole says that every session of a page has answered.
func (m *Machine) heardWhole(t messages.TargetID) bool {
	for _, e := range m.sessions.All() {
		if e.cfg.Page == t && !e.heard {
			return false
		}
	}
	return true
}

func (m *Machine) hasFrame(t messages.TargetID, f messages.FrameID) bool {
	tree := m.trees.At(t)
	if tree == nil || f == messages.FrameID(t) {
		return true
	}
	for _, c := range tree.Children {
		if c.FrameID == f {
			return true
		}
	}
	return false
}

// leftByItsSession says that a frame has a process of its own by the tree, and
// no session.
func (m *Machine) leftByItsSession(t messages.TargetID, f messages.FrameID) bool {
	for _, e := range m.sessions.All() {
		if messages.FrameID(e.cfg.Target) == f {
			return false
		}
	}
	if tree := m.trees.At(t); tree != nil {
		for _, c := range tree.Children {
			if c.FrameID == f {
				return c.IsOOPIF
			}
		}
	}
	return false
}

// holdsDialog says that a frame of the page with a session of its own holds a dialog that
// no link has reported.
func (m *Machine) holdsDialog(t messages.TargetID) bool {
	for _, e := range m.sessions.All() {
		if e.cfg.Page == t && !e.cfg.IsPage && e.health == messages.PageDialogUnreachable {
			return true
		}
	}
	return false
}

// pageUnreachable says at once what the frame that asked will say of itself in
// a moment.
func (m *Machine) pageUnreachable(u mail.PageUnreachable) {
	p := m.pages.At(u.Page)
	if p == nil {
		return
	}
	p.stuck = true
	if u.Poisoned {
		m.becomePoisoned(u.Page)
		return
	}
	m.pageChanged(u.Page)
}

// becomePoisoned is for a page with a dialog whose frame is gone. The frame waits for
// nothing, so freeing the page decides nothing for an agent; left as it is, the next dialog
// on it, or navigation, would end the whole browser (C15).
func (m *Machine) becomePoisoned(t messages.TargetID) {
	p := m.pages.At(t)
	p.stuck = true
	if !p.poisoned {
		p.poisoned = true
		m.do(Arm{timerRelease + string(t), releaseGrace})
	}
	m.pageChanged(t)
}

func (m *Machine) freePoisoned(t messages.TargetID) {
	p := m.pages.At(t)
	switch {
	case p == nil, !p.poisoned:
		return
	case m.isUnsettled(t):
		m.do(Arm{timerRelease + string(t), releaseGrace})
		return
	case p.session == "", m.stopping():
		return // the next attach frees it; and the end does, with both links
	}
	if m.recovering[t] == nil {
		m.beginRecovery(t, messages.RecoverRelease, 0)
	}
}

const timerWedge = "wedge:"

// wedgeTimer has a page looked at again that has been silent for long.
func (m *Machine) wedgeTimer(name string) bool {
	t, ok := strings.CutPrefix(name, timerWedge)
	if ok && m.pages.At(messages.TargetID(t)) != nil {
		m.turned = append(m.turned, messages.TargetID(t))
	}
	return ok
}

// onWedge does what the spec wants done about a page in its state, once each
// time it comes to be in it. A crash is certain. Silence may be the machine's,
// a page's that starts or one's that works: it has to last, and the page to have
// answered before, since all that would be done about it loses something.
func (m *Machine) onWedge(now time.Time, t messages.TargetID) {
	p := m.pages.At(t)
	state := m.pageState(t)
	action := m.spec.OnWedge.For(state)
	if action == messages.RecoverReload && m.isStranded(t) {
		action = messages.RecoverReplace // the one that brings it back
	}
	if action == "" || m.recovering[t] != nil || p.poisoned || p.session == "" || m.isUnsettled(t) || admit.Forbids(m.known(t), action) != nil {
		return
	}
	if state != messages.PageCrashed {
		if !p.answered {
			return
		}
		if left := m.spec.OnWedgeAfter() - now.Sub(p.since); left > 0 {
			m.do(Arm{timerWedge + string(t), left})
			return
		}
		if m.mayShare(t) {
			m.do(Arm{timerWedge + string(t), messages.MinOnWedgeAfter})
			return
		}
	}
	if p.since.Sub(p.auto.last) > automaticCalm {
		p.auto = automatic{}
	}
	if p.auto.times == maxAutomatic {
		if !p.auto.left {
			p.auto.left = true
			m.do(Warn{Text: "a page wedges again and again, it is left as it is", Page: t})
		}
		return
	}
	p.auto.times++
	p.auto.last = now
	m.beginRecovery(t, action, 0)
}
