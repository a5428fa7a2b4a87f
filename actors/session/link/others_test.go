package link_test

import (
	"time"

	"holdfast/actors/session/effect"
	"holdfast/actors/session/link"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// beside is a machine on a node whose other task has the pages with a name that begins
// with X.
type beside struct {
	machine interface {
		Asks(in any) []mail.TargetInfo
		Know(map[messages.TargetID]link.Others)
		Step(now time.Time, in any) []effect.Effect
		State() string
	}
}

func (b beside) Step(now time.Time, in any) []effect.Effect {
	isTheirs := func(t messages.TargetID) bool { return t != "" && t[0] == 'X' }
	known := map[messages.TargetID]link.Others{}
	for _, t := range b.machine.Asks(in) {
		known[t.ID] = link.Others{IsElsewhere: isTheirs(t.ID), IsOpenerElsewhere: isTheirs(t.Opener)}
	}
	b.machine.Know(known)
	return b.machine.Step(now, in)
}

func (b beside) State() string { return b.machine.State() }
