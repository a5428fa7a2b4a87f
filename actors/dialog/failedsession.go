package dialog

import (
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// sessionFailed takes away what a session of the primary was to its page. The next session of
// the page hears of the end of a dialog at most; a call over the bridge is dismissed with the
// last debugger (C47).
func (m *Machine) sessionFailed(now time.Time, f mail.SessionFailed) {
	if m.watches[messages.RolePrimary].At(f.Page).session == f.Session {
		m.watches[messages.RolePrimary].Delete(f.Page)
		m.isListed = false
	}
	for _, e := range m.entries() {
		if e.Dialog.TargetID != f.Page {
			continue
		}
		m.dropWays(e, func(w mail.Way) bool { return w.Session == f.Session })
		if !e.isBridged() {
			e.Seen.Sights[messages.RolePrimary] = mail.SightOver
		}
		e.isUnreported = e.isUnreported || e.isBridged() && !e.Dialog.Holds && !m.isAttended(f.Page)
	}
	for i := range m.late {
		if d := &m.late[i]; d.Page == f.Page {
			d.Sights[messages.RolePrimary] = mail.SightOver
		}
	}
	m.forget()
	if d := m.dooms[f.Page]; d != nil && d.way.Session == f.Session {
		m.doomGoesOn(f.Page, d)
	}
	m.changed(nil, nil)
	m.endLost(now)
}
