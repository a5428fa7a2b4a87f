package link

import (
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// What an anchor does about a doomed dialog (C58). It may hear of one while it dials
// anew: the session is then one of the link before.

func (m *Anchor) has(t messages.TargetID, s messages.SessionID) bool {
	p := m.pages.At(t)
	return p != nil && p.session == s
}

func (m *Anchor) probeDialog(o mail.ProbeDialog) {
	if m.has(o.Page, o.Session) {
		m.do(effect.ProbeDialog(o))
	} else {
		m.do(effect.ToDialog{Msg: mail.DialogProbed{Dialog: o.Dialog, Session: o.Session, Page: o.Page, Err: effect.NotConnected()}})
	}
}

func (m *Anchor) movePage(o mail.MovePage) {
	if m.has(o.Page, o.Session) {
		m.do(effect.MovePage(o))
	} else {
		m.do(effect.ToDialog{Msg: mail.PageMoved{Session: o.Session, Page: o.Page, Err: effect.NotConnected()}})
	}
}

// closeDoomed closes a page with every session attached.
func (m *Anchor) closeDoomed(t messages.TargetID) {
	if m.pages.At(t) != nil {
		m.do(closeTarget(t))
	}
}
