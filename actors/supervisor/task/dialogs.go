package task

import (
	"slices"

	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func (m *Machine) dialogsChanged(c mail.DialogsChanged) {
	before := m.Pending
	m.Memory, m.Pending = c.Memory, c.Pending
	if c.Opened != nil {
		m.bridge.Slipped(c.Opened)
		m.Tell(messages.Event{Type: messages.EventDialogOpened, Dialog: c.Opened, InOOPIF: m.IsInOOPIF(*c.Opened)})
	}
	if c.Closed != nil {
		delete(m.doubted, c.Closed.ID)
		delete(m.outlived, c.Closed.ID)
		delete(m.unframed, c.Closed.ID)
		closed := messages.Event{Type: messages.EventDialogClosed, Closed: c.Closed}
		if p := m.Pages.At(c.Closed.TargetID); p != nil && p.HasFailed && c.Closed.ClosedBy == messages.ClosedByLost {
			closed.Reason = messages.ReasonSessionFailed
		}
		m.Tell(closed)
		m.NoteEnded(*c.Closed)
		if c.Closed.ClosedBy == messages.ClosedByLost && c.Closed.Path != messages.PathBridge {
			m.dialogLost(*c.Closed)
		} else if c.Closed.ClosedBy == messages.ClosedByLost {
			m.tellSiblings(false, c.Closed.TargetID)
		}
	}
	if c.Opened != nil || c.Closed != nil {
		m.ask()
		m.sharesChanged()
	}
	touched := make([]messages.TargetID, 0, len(m.told)+len(c.Pending))
	for t := range m.told {
		touched = append(touched, t)
	}
	for _, d := range c.Pending {
		if !m.told[d.TargetID] && !slices.Contains(touched, d.TargetID) {
			touched = append(touched, d.TargetID)
		}
	}
	slices.Sort(touched)
	for _, t := range touched {
		// A second link's word of a dialog changes its memory, and nothing that is shown.
		if c.Closed != nil && c.Closed.TargetID == t || !slices.Equal(model.On(before, t), model.On(m.Pending, t)) {
			m.Later = append(m.Later, m.dialogsOpen(t)...)
			m.PageChanged(t)
		}
	}
}

// tellDialogs says to every session of a page which dialogs wait on it.
func (m *Machine) tellDialogs(page messages.TargetID) { m.DoAll(m.dialogsOpen(page)) }

func (m *Machine) dialogsOpen(page messages.TargetID) (orders []step.Effect) {
	dialogs := m.DialogsOn(page)
	if len(dialogs) > 0 {
		smallmap.Put(&m.told, page, true)
	} else {
		delete(m.told, page)
	}
	for _, s := range m.SessionOrder() {
		if m.Sessions.At(s).Cfg.Page == page {
			orders = append(orders, step.ToSession{Session: s, Msg: mail.DialogsOpen{Dialogs: dialogs, IsHolding: m.IsAnyHeldBy(s, dialogs, model.IsBlocking), IsPaused: m.IsAnyHeldBy(s, dialogs, model.IsPausing)}})
		}
	}
	return orders
}
