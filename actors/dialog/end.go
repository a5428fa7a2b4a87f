package dialog

import (
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// closed matches by page and frame, oldest first: the event carries no id and
// no message (D17).
func (m *Machine) closed(now time.Time, c mail.DialogClosed) {
	if c.Gen <= m.lost[c.Role] {
		return
	}
	d, certain := m.closing(c.Role, c.Page, c.Frame)
	switch {
	case certain:
		m.isOver(now, d, c)
	case d.entry != nil:
		d.entry.ends[c.Role] = &c // the link that reported its opening will report its end; see opened
	}
}

// isOver is for a dialog whose end a link has told.
func (m *Machine) isOver(now time.Time, d seen, c mail.DialogClosed) {
	d.Sights[c.Role], d.IsLost = mail.SightOver, false
	e := d.entry
	switch {
	case e == nil:
		m.forget()
		m.changed(nil, nil)
	case e.isShut():
		m.changed(nil, nil)
	case e.answer == nil:
		m.endBy(now, e, messages.ClosedByRemote)
	case isUnasked(e.answer.by):
		m.end(now, e, e.answer.by) // never overwritten (D15)
		if e.likely(c) == messages.ClosedByRemote {
			m.maybeNeeded(now, e)
		}
	case e.answer.way == (mail.Way{}) && e.answer.err == nil:
		m.endBy(now, e, messages.ClosedByRemote) // it was never said
	case e.answer.isUnsure, e.answer.way == (mail.Way{}):
		m.endBy(now, e, e.likely(c))
	default:
		// By our answer, or by another client whose answer was there first (C6): the
		// outcome of ours decides, and it comes next.
		e.ShutBy = e.likely(c)
		m.changed(nil, nil)
	}
}

func (m *Machine) framesRemoved(now time.Time, r mail.FramesRemoved) {
	for _, e := range m.entries() {
		if e.Dialog.TargetID != r.Page || e.isShut() {
			continue
		}
		for _, f := range r.Frames {
			if f == e.Dialog.FrameID && e.isBridged() {
				m.end(now, e, messages.ClosedByRemote) // no session waits any more
				break
			}
			if f == e.Dialog.FrameID && m.takeToldEnd(now, e) {
				break // a removal under an open dialog comes without a closing event (C15)
			}
			if f == e.Dialog.FrameID {
				m.do(ToSupervisor{mail.PageUnreachable{Page: r.Page, IsPoisoned: true}})
				m.end(now, e, messages.ClosedByLost)
				break
			}
		}
	}
}

// noneAsks ends what a session told the actor before this one of, and has heard the end of.
// An answer that was sent owes its outcome, which tells.
func (m *Machine) noneAsks(now time.Time, n mail.NoneAsks) {
	for _, e := range m.entries() {
		if e.Dialog.TargetID == n.Page && !e.isBridged() && !e.isShut() && e.answer == nil && hasWay(e.Ways, n.Session) {
			m.end(now, e, messages.ClosedByRemote)
		}
	}
}

// endLost ends the dialogs that no link reaches any more. What another link has told
// that may be the end of one is taken for it: who could tell better is gone.
func (m *Machine) endLost(now time.Time) {
	for _, e := range m.entries() {
		if len(e.Ways) == 0 {
			m.takeToldEnd(now, e)
		}
	}
	m.endAll(now, func(e *entry) bool {
		if e.isShut() {
			return !hasWay(e.Ways, e.answer.way.Session) // no session is left to report its outcome
		}
		if !m.isUnreachable(e) {
			return false
		}
		if e.isAnswerDelivered() {
			m.endTaken(now, e)
			return false
		}
		return true
	}, messages.ClosedByLost)
}

// takeToldEnd takes for the end of e what a link has told that may be it, and returns whether one has.
func (m *Machine) takeToldEnd(now time.Time, e *entry) bool {
	for _, c := range e.ends {
		if c != nil && c.Gen > m.lost[c.Role] {
			m.isOver(now, seen{&e.Seen, e}, *c)
			return true
		}
	}
	return false
}

func (m *Machine) endAll(now time.Time, which func(*entry) bool, by messages.ClosedBy) {
	for _, e := range m.entries() {
		switch {
		case !which(e):
		case e.isShut():
			m.end(now, e, e.ShutBy)
		default:
			m.end(now, e, by)
		}
	}
}

// end moves a dialog to history and gives its answerer the outcome.
func (m *Machine) end(now time.Time, e *entry, by messages.ClosedBy) {
	for i := range m.open {
		if m.open[i] == e {
			m.open = append(m.open[:i:i], m.open[i+1:]...)
			break
		}
	}
	m.do(Disarm{watchdog(e.Dialog.ID)})
	if e.IsUnproved {
		m.do(Disarm{probeTimer(e.Dialog.ID)})
	}
	if e.answer != nil && e.answer.isUnsure {
		m.do(Disarm{outcome(e.Dialog.ID)})
	}
	if m.isLeaving {
		m.do(Disarm{hastePrefix + string(e.Dialog.ID)})
	}
	if e.isBridged() || e.isAwaited {
		m.do(Disarm{waylessPrefix + string(e.Dialog.ID)})
	}
	if e.isBridged() {
		m.settled(e, by)
	} else {
		e.Seen.IsLost = by == messages.ClosedByLost
		m.over(e.Seen)
	}
	record := messages.ClosedDialog{
		ID: e.Dialog.ID, Type: e.Dialog.Type, Message: e.Dialog.Message, OpenedAt: e.Dialog.OpenedAt,
		ClosedAt: messages.SecondsOf(now), ClosedBy: by, FrameID: e.Dialog.FrameID, TargetID: e.Dialog.TargetID,
		Rule: e.Dialog.Rule, Promoted: e.isPromoted, Path: e.Dialog.Path,
	}
	if e.answer != nil && by == e.answer.by {
		record.Action = e.answer.action
	}
	// A fresh slice each time: the snapshot holds the old one.
	keep, room := m.recent, maxRecentBytes-len(record.Message)
	if len(keep) >= messages.MaxRecentDialogs {
		keep = keep[len(keep)-messages.MaxRecentDialogs+1:]
	}
	for i := len(keep) - 1; i >= 0; i-- {
		if room -= len(keep[i].Message); room < 0 {
			keep = keep[i+1:]
			break
		}
	}
	m.recent = append(append(make([]messages.ClosedDialog, 0, len(keep)+1), keep...), record)
	m.changed(nil, &record)

	if e.answer == nil || e.answer.reply == 0 {
		m.maybeLeft()
		return
	}
	switch {
	case by == messages.ClosedByAgent, by == messages.ClosedByHuman:
		m.do(Answer{To: e.answer.reply, Value: record})
	case by == messages.ClosedByLost && e.answer.err != nil:
		m.do(Answer{To: e.answer.reply, Err: e.answer.err}) // no link is left to tell whether it arrived
	case by == messages.ClosedByLost:
		m.do(Answer{To: e.answer.reply, Err: messages.Errorf(messages.CodeDialogLost, "dialog %s was lost before the answer arrived", e.Dialog.ID)})
	default:
		m.do(Answer{To: e.answer.reply, Err: alreadyAnswered(e.Dialog.ID, by)})
	}
	m.maybeLeft()
}

func (m *Machine) maybeLeft() {
	if m.isLeaving && len(m.open)+len(m.dooms) == 0 {
		m.do(ToSupervisor{Left{}})
	}
}
