package model

import (
	"slices"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// Needed is a dialog that ended too soon, with the frames whose documents it could have
// ended with.
type Needed struct {
	mail.BridgeNeeded
	Of []messages.FrameID // the frame and those around it
}

// Moved is a frame that got another document, or went.
type Moved struct {
	Frame messages.FrameID
	At    time.Time
}

// MaxMoved bounds those that are remembered of a page.
const MaxMoved = 32

// HasMovedUnder says whether the dialog's document may have gone since it opened. With as many
// as are remembered since then, it may.
func (p *Page) HasMovedUnder(n Needed) bool {
	since := func(m Moved) bool { return m.At.After(n.Heard) }
	if len(p.Moved) == MaxMoved && since(p.Moved[0]) {
		return true
	}
	return slices.ContainsFunc(p.Moved, func(m Moved) bool { return since(m) && slices.Contains(n.Of, m.Frame) })
}

// HasCrashedUnder says whether the renderer of the dialog's frame has crashed since the dialog
// opened: one that had crashed before opened none. A frame may have gone with its renderer,
// and then it is not known any more which it had.
func (m *Task) HasCrashedUnder(n mail.BridgeNeeded) bool {
	holder, gone := m.Holder(messages.Dialog{TargetID: n.Page, FrameID: n.Frame}), !m.HasFrame(n.Page, n.Frame)
	for s, e := range m.Sessions.All() {
		if e.Cfg.Page == n.Page && (s == holder || gone) && !e.Crashed.IsZero() && !e.Crashed.Before(n.Heard) {
			return true
		}
	}
	return false
}
