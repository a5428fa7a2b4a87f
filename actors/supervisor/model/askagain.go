package model

import (
	"slices"

	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A script whose dialog the end of the task has dismissed continues, and may ask again at once.
// What it asks after the task's sessions have left its page stands there for good (M1), so none
// leaves before the renderers of such frames have come to answer something else.

// NoteEnded takes the end of a dialog.
func (m *Task) NoteEnded(d messages.ClosedDialog) {
	ended := messages.Dialog{TargetID: d.TargetID, FrameID: d.FrameID}
	if m.Parting == Dismissing && d.Path != messages.PathBridge && d.ClosedBy != messages.ClosedByLost && m.IsToBeDismissed(mail.OpenDialog{Dialog: ended}) {
		smallmap.Put(&m.mayAsk, m.Holder(ended), true)
	}
}

// MayAsk are the sessions whose renderers are to answer before their pages are left.
func (m *Task) MayAsk() (list []messages.SessionID) {
	for s := range m.mayAsk {
		if m.Sessions.At(s) == nil {
			delete(m.mayAsk, s)
			continue
		}
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

// HasGoneOn takes a renderer's answer, and says whether it was the last that is waited for: no
// dialog stands open, and no page is doomed.
func (m *Task) HasGoneOn(s messages.SessionID) bool {
	if !m.mayAsk[s] {
		return false
	}
	delete(m.mayAsk, s)
	return len(m.mayAsk)+len(m.Memory.Open)+len(m.Memory.Doomed) == 0
}
