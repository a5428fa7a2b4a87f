package session

import (
	"holdfast/internal/smallmap"
	"holdfast/messages"
)

// Whoever waits for an answer gets one, also when the session ends first.

func gone() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the session ended before the answer came").With("sent", true)
}

// abandon answers every navigation that still waits.
func (m *Machine) abandon() {
	for _, n := range m.waiting() {
		n.reply(nil, gone().With("sent", n.begun))
	}
	m.navs = nil
}

// abandon answers everybody who waits for a page to be opened or closed.
func (m *BrowserMachine) abandon() {
	for _, c := range m.creating {
		if c.reply != nil {
			c.reply(nil, gone())
		}
	}
	for _, p := range m.pages.All() {
		if p.closing != nil {
			p.closing(nil, gone())
		}
	}
	m.creating, m.pages = nil, smallmap.Map[messages.TargetID, *browserPage]{}
}
