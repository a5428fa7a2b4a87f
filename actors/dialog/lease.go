package dialog

import (
	"strings"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// While the task's node has no lease, dialogs are told of and none is answered: another node
// may have the task. The watchdogs stand still.

// lease takes the begin of such a time, or its end.
func (m *Machine) lease(now time.Time, l mail.Lease) {
	switch {
	case l.IsHeld == m.lapsedAt.IsZero():
	case l.IsHeld:
		m.leaseHeld(now)
	default:
		m.lapsedAt = now
		for _, e := range m.entries() {
			m.do(Disarm{watchdog(e.Dialog.ID)})
		}
		m.changed(nil, nil)
	}
}

func (m *Machine) isLapsed() bool { return !m.lapsedAt.IsZero() }

// leaseHeld arms the watchdogs anew with the time that was left, and does what has waited.
func (m *Machine) leaseHeld(now time.Time) {
	since := m.lapsedAt
	m.lapsedAt = time.Time{}
	for _, e := range m.entries() {
		if e.isShut() {
			continue
		}
		stood := since
		if e.OpenedAt.After(since) {
			stood = e.OpenedAt
		}
		e.ExpiresAt = e.ExpiresAt.Add(now.Sub(stood))
		e.Dialog.ExpiresAt = messages.SecondsOf(e.ExpiresAt)
		m.do(Arm{watchdog(e.Dialog.ID), e.ExpiresAt.Sub(now)})
		m.decideAlone(e)
		if e.IsUnproved {
			m.probe(e)
		}
	}
	m.doomsRemembered()
	m.changed(nil, nil)
	m.maybeLeft()
}

// keepBack is for an answer that was decided before the lease lapsed and is not given: its
// caller is told so, and what the task decides by itself is decided anew.
func (m *Machine) keepBack(e *entry) {
	if e.answer.reply != 0 {
		var err error = mail.Lapsed()
		if e.answer.err != nil {
			err = e.answer.err // a try before this one may have arrived
		}
		m.do(Answer{To: e.answer.reply, Err: err})
	}
	e.answer = nil
	m.changed(nil, nil)
}

const (
	leasePrefix = "lease:"
	// leaseAgain is when the task's own answer is decided anew that a link has withheld: it
	// knows of a lapse before the machine does, and the machine may never hear of a short one.
	leaseAgain = 250 * time.Millisecond
)

// withheld is for an answer that a link has not written for want of a lease.
func (m *Machine) withheld(e *entry) {
	m.keepBack(e)
	if !m.isLapsed() {
		m.do(Arm{leasePrefix + string(e.Dialog.ID), leaseAgain})
	}
}

// handleLeaseDue decides a dialog anew, and says whether the timer was for that.
func (m *Machine) handleLeaseDue(name string) bool {
	id, ok := strings.CutPrefix(name, leasePrefix)
	if e := m.byID(messages.DialogID(id)); ok && e != nil && !e.isShut() {
		m.decideAlone(e)
	}
	return ok
}
