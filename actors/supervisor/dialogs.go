package supervisor

import (
	"slices"

	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func (m *Machine) dialogsChanged(c mail.DialogsChanged) {
	before := m.pending
	m.memory, m.pending = c.Memory, c.Pending
	if c.Opened != nil {
		m.bridgeSlipped(c.Opened)
		m.tell(messages.Event{Type: messages.EventDialogOpened, Dialog: c.Opened, InOOPIF: m.inOOPIF(*c.Opened)})
	}
	if c.Closed != nil {
		delete(m.doubted, c.Closed.ID)
		delete(m.outlived, c.Closed.ID)
		delete(m.unframed, c.Closed.ID)
		m.tell(messages.Event{Type: messages.EventDialogClosed, Closed: c.Closed})
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
		if c.Closed != nil && c.Closed.TargetID == t || !slices.Equal(on(before, t), on(m.pending, t)) {
			m.later = append(m.later, m.dialogsOpen(t)...)
			m.pageChanged(t)
		}
	}
}

// inOOPIF says that an out-of-process iframe asks.
func (m *Machine) inOOPIF(d messages.Dialog) bool {
	p := m.pages.At(d.TargetID)
	return p != nil && string(d.FrameID) != string(d.TargetID) && m.holder(d) != p.session
}

// tellDialogs says to every session of a page which dialogs wait on it.
func (m *Machine) tellDialogs(page messages.TargetID) { m.out = append(m.out, m.dialogsOpen(page)...) }

func (m *Machine) dialogsOpen(page messages.TargetID) (orders []Effect) {
	dialogs := m.dialogsOn(page)
	if len(dialogs) > 0 {
		smallmap.Put(&m.told, page, true)
	} else {
		delete(m.told, page)
	}
	for _, s := range m.sessionOrder() {
		if m.sessions.At(s).cfg.Page == page {
			orders = append(orders, ToSession{s, mail.DialogsOpen{Dialogs: dialogs, Holding: m.anyHeldBy(s, dialogs, blocks), Paused: m.anyHeldBy(s, dialogs, pauses)}})
		}
	}
	return orders
}

func (m *Machine) dialogsOn(page messages.TargetID) []messages.Dialog { return on(m.pending, page) }

// on are those of dialogs that are a page's.
func on(dialogs []messages.Dialog, page messages.TargetID) []messages.Dialog {
	var on []messages.Dialog
	for _, d := range dialogs {
		if d.TargetID == page {
			on = append(on, d)
		}
	}
	return on
}

// blocks says that a dialog keeps the renderer of its holder from answering: one
// that waits in the debugger does not.
func blocks(d *messages.Dialog) bool { return d.Path != messages.PathBridge || d.Holds }

// pauses says that a dialog waits in the debugger of its holder.
func pauses(d *messages.Dialog) bool { return !blocks(d) }

// heldBy are those of dialogs, of that kind, that session s is the holder of.
func (m *Machine) heldBy(s messages.SessionID, dialogs []messages.Dialog, kind func(*messages.Dialog) bool) (mine []messages.Dialog) {
	for i := range dialogs {
		if kind(&dialogs[i]) && m.holder(dialogs[i]) == s {
			mine = append(mine, dialogs[i])
		}
	}
	return mine
}

func (m *Machine) anyHeldBy(s messages.SessionID, dialogs []messages.Dialog, kind func(*messages.Dialog) bool) bool {
	return slices.ContainsFunc(dialogs, func(d messages.Dialog) bool { return kind(&d) && m.holder(d) == s })
}

// holder is the session whose process runs the frame that asks: that of the
// nearest frame upwards with a session of its own. The tree may be that of the
// link before; the sessions are of this one. "" is none yet.
func (m *Machine) holder(d messages.Dialog) messages.SessionID {
	frame := d.FrameID
	if s, ok := m.attachedTo(d.TargetID, frame); ok {
		return s
	}
	if t := m.trees.At(d.TargetID); t != nil {
		for i := len(t.Children) - 1; i >= 0; i-- { // parents stand before their children
			if c := t.Children[i]; c.FrameID == frame {
				if c.IsOOPIF {
					return "" // its process holds the dialog, and has no session yet
				}
				frame = c.ParentFrameID
				if s, ok := m.attachedTo(d.TargetID, frame); ok {
					return s
				}
			}
		}
	}
	if p := m.pages.At(d.TargetID); p != nil && p.session != "" {
		return p.session
	}
	return d.SessionID
}

// attachedTo is the session of a page's target that is this very frame.
func (m *Machine) attachedTo(page messages.TargetID, frame messages.FrameID) (messages.SessionID, bool) {
	for s, e := range m.sessions.All() {
		if e.cfg.Page == page && string(e.cfg.Target) == string(frame) {
			return s, true
		}
	}
	return "", false
}
