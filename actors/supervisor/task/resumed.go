package task

import (
	"time"

	"holdfast/actors/supervisor/model"
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
	m.Now, m.IsLapsed = now, r.IsWithheld
	memory := r.Memory
	m.Version = memory.Version + versionsAhead
	m.Context, m.HasBeenUp = memory.Context, true
	if m.Context != "" {
		m.Conn.Isolation = messages.IsolationContext
	}
	for _, p := range memory.Pages {
		info := mail.TargetInfo{ID: p.TargetID, Type: "page", URL: p.URL, Title: p.Title, Context: memory.Context}
		if p.OpenerID != nil {
			info.Opener = *p.OpenerID
		}
		m.Pages.Set(p.TargetID, &model.Page{Info: info, Health: messages.PageOK})
		m.Order = append(m.Order, p.TargetID)
	}
	m.Current = memory.Current
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
	m.OutageBegins(now, messages.Errorf(messages.CodeUpstreamUnavailable, "the task has moved here from another node"))
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
