package model

import (
	"slices"

	"holdfast/messages"
)

// IsInOOPIF says that an out-of-process iframe asks.
func (m *Task) IsInOOPIF(d messages.Dialog) bool {
	p := m.Pages.At(d.TargetID)
	return p != nil && string(d.FrameID) != string(d.TargetID) && m.Holder(d) != p.Session
}

// DialogsOn are the dialogs that wait on a page.
func (m *Task) DialogsOn(page messages.TargetID) []messages.Dialog { return On(m.Pending, page) }

// On are those of dialogs that are a page's.
func On(dialogs []messages.Dialog, page messages.TargetID) []messages.Dialog {
	var on []messages.Dialog
	for _, d := range dialogs {
		if d.TargetID == page {
			on = append(on, d)
		}
	}
	return on
}

// IsBlocking says that a dialog keeps the renderer of its holder from answering: one
// that waits in the debugger does not.
func IsBlocking(d *messages.Dialog) bool { return d.Path != messages.PathBridge || d.Holds }

// IsPausing says that a dialog waits in the debugger of its holder.
func IsPausing(d *messages.Dialog) bool { return !IsBlocking(d) }

// heldBy are those of dialogs, of that kind, that session s is the holder of.
func (m *Task) heldBy(s messages.SessionID, dialogs []messages.Dialog, kind func(*messages.Dialog) bool) (mine []messages.Dialog) {
	for i := range dialogs {
		if kind(&dialogs[i]) && m.Holder(dialogs[i]) == s {
			mine = append(mine, dialogs[i])
		}
	}
	return mine
}

// IsAnyHeldBy reports whether session s holds one of dialogs of that kind.
func (m *Task) IsAnyHeldBy(s messages.SessionID, dialogs []messages.Dialog, kind func(*messages.Dialog) bool) bool {
	return slices.ContainsFunc(dialogs, func(d messages.Dialog) bool { return kind(&d) && m.Holder(d) == s })
}

// Holder is the session whose process runs the frame that asks: that of the
// nearest frame upwards with a session of its own. The tree may be that of the
// link before; the sessions are of this one. "" is none yet.
func (m *Task) Holder(d messages.Dialog) messages.SessionID {
	frame := d.FrameID
	if s, ok := m.attachedTo(d.TargetID, frame); ok {
		return s
	}
	if t := m.Trees.At(d.TargetID); t != nil {
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
	if p := m.Pages.At(d.TargetID); p != nil && p.Session != "" {
		return p.Session
	}
	return d.SessionID
}

// attachedTo is the session of a page's target that is this very frame.
func (m *Task) attachedTo(page messages.TargetID, frame messages.FrameID) (messages.SessionID, bool) {
	for s, e := range m.Sessions.All() {
		if e.Cfg.Page == page && string(e.Cfg.Target) == string(frame) {
			return s, true
		}
	}
	return "", false
}
