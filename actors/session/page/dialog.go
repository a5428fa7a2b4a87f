package page

import (
	"time"

	"holdfast/actors/session/effect"
	"holdfast/actors/supervisor/admit"
	"holdfast/messages/mail"
)

// dialogsOpen notes which dialogs are open on the page, and what they hold up.
func (m *Machine) dialogsOpen(now time.Time, o mail.DialogsOpen) {
	m.dialogs, m.holding, m.stopped, m.told = o.Dialogs, o.Holding, o.Paused, now
	if len(m.dialogs) == 0 {
		m.dropTimer(timerInterrupt)
		// What the dialog held up: from now on silence counts.
		switch {
		case m.named() || m.crashed:
		case !m.ready:
			m.setTimer(timerClassify, AttachClassify)
		case m.probing:
			m.beginTrial()
		}
		return
	}
	if m.orphan {
		m.orphan = false // it can be answered after all
		m.publishHealth()
	}
	if m.cfg.IsPage && len(m.navs) > 0 {
		m.endNavigations(admit.BlockedByDialog(m.dialogs))
	}
	if m.stopped {
		// Most calls are answered while a page waits in the debugger.
		m.setTimer(timerInterrupt, StallAfter)
	}
	if m.holding {
		m.setTimer(timerInterrupt, InterruptGrace)
		if !m.ready && !m.crashed {
			m.announce(true) // why the page does not answer is known
		}
	}
}

// sharedDialogs ends what waits for a renderer that a dialog of another page of the task
// holds. One of the page's own would have been told of.
func (m *Machine) sharedDialogs(now time.Time, o mail.SharedDialogs) {
	if !m.orphan {
		return // it has answered meanwhile
	}
	if m.cfg.IsPage {
		m.endNavigations(admit.BlockedByDialog(o.Dialogs))
	}
	m.do(effect.Interrupt{Err: admit.BlockedByDialog(o.Dialogs), Renderer: true, Before: now})
}
