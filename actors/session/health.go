package session

import (
	"time"

	"holdfast/messages"
)

// keyUp is answered by the browser process while a dialog is open and hangs
// in a busy renderer (C24). Shift alone means nothing to a page.
var keyUp = []byte(`{"type":"keyUp","key":"Shift","code":"ShiftLeft","windowsVirtualKeyCode":16}`)

// probe asks the renderer for a sign of life. One probe is out at a time; a
// call that began behind one that a dialog holds up has its own wait for it.
func (m *Machine) probe(now time.Time) {
	if m.crashed || !m.ready || m.probing && len(m.dialogs) == 0 {
		return
	}
	if !m.probing {
		m.probing = true
		m.do(Command{Tag: Tag{Kind: TagProbe, Round: m.round}, Method: "Runtime.evaluate", Params: []byte(`{"expression":"0","silent":true}`)})
	}
	m.probedAt = now
	budget := ProbeBudget
	if len(m.dialogs) > 0 {
		budget = BlockedProbe
	}
	m.do(Arm{timerProbe, budget})
}

func (m *Machine) probeUnanswered() {
	if !m.probing {
		return
	}
	if len(m.dialogs) > 0 {
		// This session shares its process with the frame that asks. The probe
		// stays out; its reply will come when the dialog is gone.
		m.do(Interrupt{Err: BlockedByDialog(m.dialogs), Renderer: true, Before: m.probedAt})
		return
	}
	m.hung = true
	m.publishHealth()
}

func (m *Machine) becomeCrashed() {
	if m.crashed {
		return
	}
	m.crashed = true
	m.ready, m.probing, m.paused = false, false, false
	m.round++ // replies of the old renderer mean nothing
	m.do(Disarm{timerClassify})
	m.do(Disarm{timerVerdict})
	m.do(Disarm{timerProbe})
	m.do(Disarm{timerReload})
	err := messages.Errorf(messages.CodePageCrashed, "the page's renderer has crashed; navigate or Page.reload revives it")
	m.do(Interrupt{Err: err})
	m.endNavigations(err)
	m.publishHealth()
	m.announce(true)
}

// revive attaches afresh to a page that was reloaded after a crash: commands
// queued before the reload have failed (chromium facts, section 3).
func (m *Machine) revive() {
	if !m.crashed {
		return
	}
	m.crashed, m.hung = false, false
	m.attach()
	m.publishHealth()
}

func (m *Machine) publishHealth() {
	state := messages.PageOK
	switch {
	case m.crashed:
		state = messages.PageCrashed
	case m.orphan:
		state = messages.PageDialogUnreachable
	case m.hung:
		state = messages.PageHung
	case m.paused:
		state = messages.PagePaused
	}
	if state == m.health {
		return
	}
	m.health = state
	m.do(ToSupervisor{messages.SessionHealth{
		Gen: m.cfg.Gen, Session: m.cfg.Session, Page: m.cfg.Page, IsPage: m.cfg.IsPage, State: state,
	}})
}
