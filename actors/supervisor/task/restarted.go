package task

import (
	"maps"
	"slices"

	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// framesRestarted tells a new frame actor of the sessions. The rest they tell as soon
// as they hear of it, which is after this. That a frame was removed under its dialog
// (C15) may have been in the mailbox of the last one. That of a new link has none.
func (m *Machine) framesRestarted() {
	m.Arm(timerFrames, framesProbation)
	for _, s := range m.SessionOrder() {
		e := m.Sessions.At(s)
		e.IsRetelling = true
		m.ToFrame(mail.TargetAttached{Gen: m.Gen, Session: s, Via: e.Via, Page: e.Cfg.Page, Info: e.Info})
	}
	for _, d := range m.Pending {
		if m.Sessions.Len() > 0 && d.FrameID != messages.FrameID(d.TargetID) {
			smallmap.Put(&m.unframed, d.ID, true)
		}
	}
}

// dialogsRestarted tells a dialog actor that starts from memory what may have been lost
// with the mailbox of the last one.
func (m *Machine) dialogsRestarted() {
	if m.lostGen > 0 {
		m.ToDialog(mail.LinkLost{Role: messages.RolePrimary, Gen: m.lostGen})
	}
	if m.Anchor.LostGen > 0 {
		m.ToDialog(mail.LinkLost{Role: messages.RoleAnchor, Gen: m.Anchor.LostGen})
	}
	for _, o := range m.Memory.Open {
		for _, w := range o.Ways {
			if o.Pause.Key != "" && w.Role == messages.RolePrimary && m.Sessions.At(w.Session) == nil {
				m.ToDialog(mail.SessionGone{Role: messages.RolePrimary, Session: w.Session})
			}
		}
	}
	known := map[messages.TargetID]bool{}
	for _, o := range m.Memory.Open {
		known[o.Dialog.TargetID] = true
	}
	for _, w := range m.Memory.Watches {
		known[w.Page] = true
	}
	for _, t := range slices.Sorted(maps.Keys(known)) {
		if m.Pages.At(t) == nil {
			m.ToDialog(mail.PageGone{Page: t})
		}
	}
	// What the last one was told of a page may be lost with it: a page that falls silent
	// may hold a dialog of its own until it has answered again.
	for _, e := range m.Sessions.All() {
		e.IsTelling = false
	}
	// What the sessions hear of they tell themselves, and the anchor does.
	for _, t := range m.Order {
		if p := m.Pages.At(t); p.Session != "" {
			m.tellWatched(t)
		}
	}
	m.doubt("")
}
