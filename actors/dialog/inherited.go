package dialog

import (
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// idsAhead is more than another node can have given out since its last word of a task.
const idsAhead = 1 << 10

// inherit takes what another node has told of the dialogs of a task that this one takes over. Its
// own machine has seen them by the anchor of the task, under ids of its own: those that callers
// know take their place. Chrome shows one dialog of a page at a time, so what looks the same is.
func (m *Machine) inherit(now time.Time, in mail.InheritDialogs) {
	if !m.lapsedAt.IsZero() {
		m.lapsedAt = now // up to here the watchdogs of the other node ran
	}
	m.recent, m.late, m.seq = in.Recent, nil, 0
	for _, d := range in.Recent {
		m.seq = max(m.seq, d.ID.Number())
	}
	for _, d := range in.Open {
		m.seq = max(m.seq, d.ID.Number())
	}
	m.unheard = [2]uint64{m.seq, m.seq + idsAhead}
	m.seq += idsAhead
	var over []messages.Dialog
	known := map[*entry]bool{}
	for _, d := range in.Open {
		if e := m.lookalike(d, known); e != nil {
			known[e] = true
			m.rename(e, d)
		} else {
			over = append(over, d)
		}
	}
	for _, e := range m.open {
		if !known[e] { // it opened behind the last word
			m.seq++
			e.Dialog.ID, e.Seen.Seq = messages.NewDialogID(m.seq), m.seq
		}
	}
	for _, d := range over {
		m.endInherited(now, d)
	}
	m.changed(nil, nil)
}

// lookalike is the oldest dialog that looks like one, of those that are not known yet.
func (m *Machine) lookalike(d messages.Dialog, known map[*entry]bool) *entry {
	for _, e := range m.open {
		if o := e.Dialog; !known[e] && o.TargetID == d.TargetID && o.FrameID == d.FrameID && o.Type == d.Type && o.Message == d.Message {
			return e
		}
	}
	return nil
}

// rename gives a dialog the id and the times under which callers know it.
func (m *Machine) rename(e *entry, d messages.Dialog) {
	e.Dialog.ID, e.Seen.Seq = d.ID, d.ID.Number()
	e.Dialog.OpenedAt, e.Dialog.ExpiresAt, e.Dialog.WaitsFor, e.Dialog.Rule = d.OpenedAt, d.ExpiresAt, d.WaitsFor, d.Rule
	e.OpenedAt, e.ExpiresAt = d.OpenedAt.Time(), d.ExpiresAt.Time()
}

// endInherited ends a dialog that is not open any more, as far as this node sees. Where it was not
// there when the dialog opened, it cannot see.
func (m *Machine) endInherited(now time.Time, d messages.Dialog) {
	by := messages.ClosedByLost
	if w := m.watches[messages.RoleAnchor].At(d.TargetID); w.isCovered {
		by = messages.ClosedByRemote
	}
	e := &entry{OpenDialog: mail.OpenDialog{
		Dialog: d, Seen: mail.SeenDialog{Seq: d.ID.Number(), Page: d.TargetID, Frame: d.FrameID, Type: d.Type, Message: d.Message},
		OpenedAt: d.OpenedAt.Time(), ExpiresAt: d.ExpiresAt.Time(),
	}}
	m.open = append(m.open, e)
	m.end(now, e, by)
}
