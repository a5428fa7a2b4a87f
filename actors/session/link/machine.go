// Package link decides for a task's two links to its browser.
//
// [Primary] knows which pages are the task's, opens, closes and frees them. [Anchor] is
// attached to the same pages a second time, so that an open dialog outlives the primary.
// What both do alike is in one place, below them: the attach, whose the pages are, and the
// end of the link.
package link

import (
	"time"

	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Machine decides for one link.
type Machine interface {
	// Asks returns the targets that a step with this input may decide over. What the node knows
	// of them is told by Know, before the step.
	Asks(in any) []mail.TargetInfo
	Know(others map[messages.TargetID]Others)
	// Step takes one input and returns what is to be done, in order.
	Step(now time.Time, in any) []effect.Effect
	// Abandon returns the answers to the calls that wait as the link ends.
	Abandon() []effect.Answer
	State() string
}

// New returns the machine of a link that is about to be dialled, by its role.
func New(cfg Config) Machine {
	if cfg.Role == messages.RoleAnchor {
		return NewAnchor(cfg)
	}
	return NewPrimary(cfg)
}
