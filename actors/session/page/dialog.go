package page

import (
	"time"

	"holdfast/actors/session/effect"
	"holdfast/actors/supervisor/admit"
	"holdfast/messages/mail"
)

// dialogsOpen notes which dialogs are open on the page, and what they hold up.
func (m *Machine) dialogsOpen(now time.Time, o mail.DialogsOpen) {
	m.dialogs, m.isHolding, m.isStopped, m.told = o.Dialogs, o.IsHolding, o.IsPaused, now
	if len(m.dialogs) == 0 {
		m.dropTimer(timerInterrupt)
		// What the dialog held up: from now on silence counts.
		switch {
		case m.isDiagnosed() || m.isCrashed:
		case !m.isReady:
			m.setTimer(timerClassify, AttachClassify)
		case m.isProbing:
			m.beginTrial()
		}
		return
	}
	if m.hasUnreportedDialog {
		m.hasUnreportedDialog = false // it can be answered after all
		m.publishHealth()
	}
	if m.cfg.IsPage && len(m.navs) > 0 {
		m.endNavigations(admit.BlockedByDialog(m.dialogs))
	}
	if m.isStopped {
		// Most calls are answered while a page waits in the debugger.
		m.setTimer(timerInterrupt, StallAfter)
	}
	if m.isHolding {
		m.setTimer(timerInterrupt, InterruptGrace)
		if !m.isReady && !m.isCrashed {
			m.announce(true) // why the page does not answer is known
		}
	}
}

// sharedDialogs ends what waits for a renderer that a dialog of another page of the task
// holds. One of the page's own would have been told of.
func (m *Machine) sharedDialogs(now time.Time, o mail.SharedDialogs) {
	if !m.hasUnreportedDialog {
		return // it has answered meanwhile
	}
	if m.cfg.IsPage {
		m.endNavigations(admit.BlockedByDialog(o.Dialogs))
	}
	m.do(effect.Interrupt{Err: admit.BlockedByDialog(o.Dialogs), NeedsRenderer: true, Before: now})
}
