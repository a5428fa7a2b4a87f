package page

import (
	"time"

	"holdfast/actors/session/effect"
)

// RestoreBudget is how long a navigation waits for what the agents had set, where
// the renderer was given up before it had answered: one that starts on a loaded
// machine is soon said to hang. A script for new documents that comes after the
// document has missed it. A renderer that does hang is left by the navigation.
const RestoreBudget = 3 * time.Second

// awaitsRestore says that a new document has to wait for what is restored. Under a dialog
// that no link reported there is nothing to wait for: it blocks the restore too, until the
// document goes.
func (m *Machine) awaitsRestore() bool {
	if !m.isRestoring || m.hasUnreportedDialog {
		return false
	}
	if !m.isAwaited {
		m.isAwaited = true
		m.setTimer(timerRestore, RestoreBudget)
	}
	return true
}

func (m *Machine) restored(r effect.Restored) {
	if r.Round != m.round || !m.isRestoring {
		return // of a renderer that is no more, or that no navigation waits for any longer
	}
	m.goOn()
}

// goOn starts what has waited for the restored state long enough.
func (m *Machine) goOn() {
	m.isRestoring = false
	m.awaitNothing()
	if m.isAttachOver {
		m.beginAll()
	}
	if r := m.reloading; r != nil && r.isBack {
		m.comeBack()
	}
}

func (m *Machine) awaitNothing() {
	if m.isAwaited {
		m.isAwaited = false
		m.dropTimer(timerRestore)
	}
}

// regiveAfter is when a session of a link that came back is given again what vanishes
// with the end of an old session, counted from one to the next: 1, 5, 15 and 60 s after
// the attach. The browser may hear of that end late, and refuses some settings until it
// does (C61).
var regiveAfter = [...]time.Duration{time.Second, 4 * time.Second, 10 * time.Second, 45 * time.Second}

// beginRegiving sets the timer for the first of regiveAfter, or for the next.
func (m *Machine) beginRegiving() {
	if m.cfg.Gen > 1 && m.regiven < len(regiveAfter) {
		m.setTimer(timerRegive, regiveAfter[m.regiven])
	}
}

func (m *Machine) regive() {
	m.regiven++
	m.beginRegiving()
	m.giveAgain()
}

// regiveDocument is for the session's next document. A frame's is perhaps that of
// another site, and what is wanted there another thing.
func (m *Machine) regiveDocument() {
	if !m.cfg.IsPage || m.cfg.Gen > 1 && m.regiven < len(regiveAfter) {
		m.giveAgain()
	}
}

func (m *Machine) giveAgain() {
	if !m.isCrashed && !m.isRestoring {
		m.do(effect.Restore{IsRepeated: true, Round: m.round})
	}
}
