package session

import (
	"holdfast/messages"
	"holdfast/messages/mail"
)

// What an anchor does about a doomed dialog (C58). It may hear of one while it dials
// anew: the session is then one of the link before.

func (m *AnchorMachine) has(t messages.TargetID, s messages.SessionID) bool {
	p := m.pages.At(t)
	return p != nil && p.session == s
}

func (m *AnchorMachine) probeDialog(o mail.ProbeDialog) {
	if m.has(o.Page, o.Session) {
		m.do(probeCommand(o))
	} else {
		m.do(ToDialog{mail.DialogProbed{Dialog: o.Dialog, Session: o.Session, Page: o.Page, Err: pageNotConnected()}})
	}
}

func (m *AnchorMachine) movePage(o mail.MovePage) {
	if m.has(o.Page, o.Session) {
		m.do(moveCommand(o))
	} else {
		m.do(ToDialog{mail.PageMoved{Session: o.Session, Page: o.Page, Err: pageNotConnected()}})
	}
}

// closeDoomed closes a page with every session attached.
func (m *AnchorMachine) closeDoomed(t messages.TargetID) {
	if m.pages.At(t) != nil {
		m.closeTarget(t)
	}
}
