package session

import (
	"holdfast/actors/session/bridge"
	"holdfast/actors/session/link"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Neighbors is how a link asks its node about the other tasks of a browser. Each function
// may be called on any goroutine, does not block, and may be nil.
type Neighbors struct {
	// Elsewhere says whether a page is another task's.
	Elsewhere func(messages.TargetID) bool
	// Foreign says which pages are left alone though the scope is browser.
	Foreign func(mail.TargetInfo) bool
	// Ended are the tasks that have ended on a page.
	Ended func(messages.TargetID) []bridge.SiblingLeft
	// Claim is told of a browser context before anything is in it.
	Claim func(context string)
	// Downloads is the directory for what the task downloads, known once the link stands.
	Downloads func() string
}

// inform tells a machine what it needs to know for a step with this input.
func (n *Neighbors) inform(m link.Machine, in any) {
	targets := m.Asks(in)
	if len(targets) == 0 {
		return
	}
	known := make(map[messages.TargetID]link.Others, len(targets))
	for _, t := range targets {
		known[t.ID] = n.of(t)
	}
	m.Know(known)
}

func (n *Neighbors) of(t mail.TargetInfo) (o link.Others) {
	if n.Elsewhere != nil {
		o.IsElsewhere, o.IsOpenerElsewhere = n.Elsewhere(t.ID), t.Opener != "" && n.Elsewhere(t.Opener)
	}
	o.IsForeign = n.Foreign != nil && n.Foreign(t)
	if n.Ended != nil {
		o.Ended = n.Ended(t.ID)
	}
	return o
}
