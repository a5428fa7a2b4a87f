package link

import (
	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// leavePage gives up a page's session: no session may be attached to a page that is to be
// released (C19), or closed with the dialog of a removed frame (C15).
func (m *Anchor) leavePage(t messages.TargetID) {
	p := m.pages.At(t)
	m.pages.Delete(t)
	if !m.isLeaving { // else it is still to be closed, if no primary does it
		m.owned.Delete(t)
	}
	if !m.isAttached || p != nil && p.session == "" {
		smallmap.Put(&m.left, t, true)
	}
	if !m.isAttached && p != nil && p.session != "" {
		smallmap.Put(&m.seen, t, true)
	}
	m.leaveFrames(t)
	if p == nil || p.session == "" {
		m.do(effect.ToSupervisor{Msg: mail.PageLeft{Gen: m.cfg.Gen, Page: t}})
		return
	}
	m.sessionGone(p.session)
	if p.isHeld {
		m.resume(p) // a page that is left while held stays frozen (C33)
	}
	m.do(detachFrom(effect.Tag{Kind: TagLeft, Page: t}, p.session))
	m.maybeSettled()
}
