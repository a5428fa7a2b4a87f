package dialog

import (
	"time"

	"holdfast/messages"
)

func (m *Machine) framesRemoved(now time.Time, r messages.FramesRemoved) {
	for _, e := range m.entries() {
		if e.Dialog.TargetID != r.Page || e.shut() {
			continue
		}
		for _, f := range r.Frames {
			if f == e.Dialog.FrameID && e.bridged() {
				m.end(now, e, messages.ClosedByRemote) // nobody waits any more
				break
			}
			if f == e.Dialog.FrameID {
				m.do(ToSupervisor{messages.PageUnreachable{Page: r.Page, Poisoned: true}})
				m.end(now, e, messages.ClosedByLost)
				break
			}
		}
	}
}

// endLost ends the dialogs that no link reaches any more.
func (m *Machine) endLost(now time.Time) {
	m.endAll(now, func(e *entry) bool {
		if e.shut() {
			return !hasWay(e.Ways, e.answer.way.Session) // nobody is left to tell its outcome
		}
		return m.wayless(e)
	}, messages.ClosedByLost)
}

func (m *Machine) endAll(now time.Time, which func(*entry) bool, by messages.ClosedBy) {
	for _, e := range m.entries() {
		switch {
		case !which(e):
		case e.shut():
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
	if e.answer != nil && e.answer.unsure {
		m.do(Disarm{outcome(e.Dialog.ID)})
	}
	if e.bridged() {
		m.do(Disarm{waylessPrefix + string(e.Dialog.ID)})
		m.settled(e, by)
	} else {
		e.Seen.Lost = by == messages.ClosedByLost
		m.over(e.Seen)
	}
	record := messages.ClosedDialog{
		ID: e.Dialog.ID, Type: e.Dialog.Type, Message: e.Dialog.Message, OpenedAt: e.Dialog.OpenedAt,
		ClosedAt: messages.SecondsOf(now), ClosedBy: by, FrameID: e.Dialog.FrameID, TargetID: e.Dialog.TargetID,
		Promoted: e.promoted, Path: e.Dialog.Path,
	}
	if e.answer != nil && by == e.answer.by {
		record.Action = e.answer.action
	}
	// A fresh slice each time: the snapshot holds the old one.
	keep := m.recent
	if len(keep) >= messages.MaxRecentDialogs {
		keep = keep[len(keep)-messages.MaxRecentDialogs+1:]
	}
	m.recent = append(append(make([]messages.ClosedDialog, 0, len(keep)+1), keep...), record)
	m.changed(nil, &record)

	if e.answer == nil || e.answer.reply == nil {
		m.maybeLeft()
		return
	}
	switch by {
	case messages.ClosedByAgent:
		m.do(Answer{To: e.answer.reply, Value: record})
	case messages.ClosedByLost:
		m.do(Answer{To: e.answer.reply, Err: messages.Errorf(messages.CodeDialogLost, "dialog %s was lost before the answer arrived", e.Dialog.ID)})
	default:
		m.do(Answer{To: e.answer.reply, Err: alreadyAnswered(e.Dialog.ID, by)})
	}
	m.maybeLeft()
}

func (m *Machine) maybeLeft() {
	if m.leaves && len(m.open) == 0 {
		m.do(ToSupervisor{Left{}})
	}
}
