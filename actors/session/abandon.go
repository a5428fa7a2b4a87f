package session

import (
	"holdfast/internal/smallmap"
	"holdfast/messages"
)

// Every call gets its answer, also when the session ends first.

func gone() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the session ended before the answer came").With("sent", true)
}

// abandon returns the answers to the navigations that still wait.
func (m *Machine) abandon() []Answer {
	var answers []Answer
	for _, n := range m.waiting() {
		answers = append(answers, Answer{To: n.reply, Err: gone().With("sent", n.begun)})
	}
	m.navs = nil
	return answers
}

// abandon returns the answers to the calls that wait for a page to be opened or closed.
func (m *BrowserMachine) abandon() []Answer {
	var answers []Answer
	for _, c := range m.creating {
		answers = append(answers, Answer{To: c.reply, Err: gone()})
	}
	for _, p := range m.pages.All() {
		answers = append(answers, Answer{To: p.closeReply, Err: gone()})
	}
	m.creating, m.pages = nil, smallmap.Map[messages.TargetID, *browserPage]{}
	return answers
}
