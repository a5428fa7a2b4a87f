package supervisor

import (
	"cmp"
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
	m.do(Arm{timerFrames, framesProbation})
	for _, s := range m.sessionOrder() {
		e := m.sessions.At(s)
		e.retells = true
		m.do(ToFrame{mail.TargetAttached{Gen: m.gen, Session: s, Via: e.via, Page: e.cfg.Page, Info: e.info}})
	}
	for _, d := range m.pending {
		if m.sessions.Len() > 0 && d.FrameID != messages.FrameID(d.TargetID) {
			smallmap.Put(&m.unframed, d.ID, true)
		}
	}
}

func (m *Machine) sessionRestarted(s messages.SessionID) {
	e := m.sessions.At(s)
	if e == nil {
		return
	}
	// What it had to say died with it; it will say so again, and have what was
	// attached through it attached anew.
	m.childrenEnded(s)
	e.ready, e.heard, e.health = false, false, messages.PageOK
	m.doubt(e.cfg.Page)
	m.tellDialogs(e.cfg.Page)
	if e.boxed { // its parent's session has said so, and will not again
		m.do(ToSession{s, mail.FrameBoxed{Gen: m.gen, Session: s, Shut: e.shut}})
	}
	m.tellRequest(s)
	if p := m.pages.At(e.cfg.Page); p != nil && p.session == s {
		p.health = messages.PageOK
	} else if p != nil {
		p.held = m.holdsDialog(e.cfg.Page)
	}
	m.pageChanged(e.cfg.Page) // callers need the new actor's port
}

// dialogsRestarted tells a dialog actor that starts from memory what may have been lost
// with the mailbox of the last one.
func (m *Machine) dialogsRestarted() {
	if m.lostGen > 0 {
		m.do(ToDialog{mail.LinkLost{Role: messages.RolePrimary, Gen: m.lostGen}})
	}
	if m.anchor.lostGen > 0 {
		m.do(ToDialog{mail.LinkLost{Role: messages.RoleAnchor, Gen: m.anchor.lostGen}})
	}
	for _, o := range m.memory.Open {
		for _, w := range o.Ways {
			if o.Pause.Key != "" && w.Role == messages.RolePrimary && m.sessions.At(w.Session) == nil {
				m.do(ToDialog{mail.SessionGone{Role: messages.RolePrimary, Session: w.Session}})
			}
		}
	}
	known := map[messages.TargetID]bool{}
	for _, o := range m.memory.Open {
		known[o.Dialog.TargetID] = true
	}
	for _, w := range m.memory.Watches {
		known[w.Page] = true
	}
	for _, t := range slices.Sorted(maps.Keys(known)) {
		if m.pages.At(t) == nil {
			m.do(ToDialog{mail.PageGone{Page: t}})
		}
	}
	// What the last one was told of a page may be lost with it: a page that falls silent
	// may hold a dialog of its own until it has answered again.
	for _, e := range m.sessions.All() {
		e.tells = false
	}
	// What the sessions hear of they tell themselves, and the anchor does.
	for _, t := range m.order {
		if p := m.pages.At(t); p.session != "" {
			m.tellWatched(t)
		}
	}
	m.doubt("")
}

// sessionOrder lists the sessions as they were attached.
func (m *Machine) sessionOrder() []messages.SessionID {
	order := make([]messages.SessionID, 0, m.sessions.Len())
	for s := range m.sessions.Keys() {
		order = append(order, s)
	}
	slices.SortFunc(order, func(a, b messages.SessionID) int { return cmp.Compare(m.sessions.At(a).seq, m.sessions.At(b).seq) })
	return order
}
