package task

import (
	"time"

	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Another node's last word of a task is up to a second old. Numbers go on above all that it
// can have given out since.
const (
	versionsAhead = 1 << 20
	dialogsAhead  = 1 << 10
)

// Resume has a machine that has not begun go on with a task of another node: it is as one whose
// link was lost. Dialogs that were open are lost with the sessions that had heard of them.
func (m *Machine) Resume(now time.Time, r mail.Resumed) {
	m.Now, m.IsLapsed, m.isStandby = now, r.IsWithheld, r.IsStandby
	memory := r.Memory
	if r.IsStandby { // the task's node has them
		memory.Open, memory.Recent = nil, nil
		for _, t := range r.Off {
			smallmap.Put(&m.off, t, true)
		}
	}
	m.Version = memory.Version + versionsAhead
	m.HasBeenUp = true
	m.setContext(memory.Context)
	m.followPages(memory)
	m.process.Now = memory.Browser
	m.process.Lost(true, m.Order)
	if r.IsWithheld {
		m.Memory.LapsedAt = now
	}
	m.Memory.Recent = memory.Recent
	for _, list := range [...][]messages.DialogID{openIDs(memory.Open), closedIDs(memory.Recent)} {
		for _, id := range list {
			m.Memory.Seq = max(m.Memory.Seq, id.Number())
		}
	}
	m.Memory.Seq += dialogsAhead
	for _, d := range memory.Open {
		m.Memory.Open = append(m.Memory.Open, mail.OpenDialog{
			Dialog: d, Seen: mail.SeenDialog{Seq: d.ID.Number(), Page: d.TargetID, Frame: d.FrameID, Type: d.Type, Message: d.Message},
			RawDefault: d.DefaultPrompt, OpenedAt: d.OpenedAt.Time(), ExpiresAt: d.ExpiresAt.Time(),
		})
	}
	m.Pending = memory.Open
	m.State = messages.StateRecovering
	m.OutageBegins(now, movedHere())
}

func (m *Machine) setContext(context string) {
	if m.Context = context; context != "" {
		m.Conn.Isolation = messages.IsolationContext
	}
}

func movedHere() error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the task has moved here from another node")
}

func openIDs(dialogs []messages.Dialog) (ids []messages.DialogID) {
	for _, d := range dialogs {
		ids = append(ids, d.ID)
	}
	return ids
}

func closedIDs(dialogs []messages.ClosedDialog) (ids []messages.DialogID) {
	for _, d := range dialogs {
		ids = append(ids, d.ID)
	}
	return ids
}
