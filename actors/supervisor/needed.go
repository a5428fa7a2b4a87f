package supervisor

import (
	"maps"
	"slices"
	"time"

	"holdfast/internal/few"
	"holdfast/messages"
)

// A dialog that closes as soon as it has opened was dismissed by somebody, or its
// renderer has crashed (C13). The crash is told of next to the dialog's end, by another
// way.
const crashGrace = 50 * time.Millisecond

const timerNeeded = "needed"

// bridgeNeeded turns a task to the bridge whose browser closes native dialogs by
// itself, unless the page turns out to have crashed.
func (m *Machine) bridgeNeeded(n messages.BridgeNeeded) {
	if m.spec.Bridge != messages.BridgeAuto || m.switched || m.stopping() || m.hasCrashed(n.Page) {
		return
	}
	if len(m.needed) == 0 {
		m.do(Arm{timerNeeded, crashGrace})
	}
	few.Put(&m.needed, n.Page, n)
}

func (m *Machine) hasCrashed(t messages.TargetID) bool {
	for _, e := range m.sessions.All() {
		if e.cfg.Page == t && e.health == messages.PageCrashed {
			return true
		}
	}
	return false
}

// stillNeeded comes once a crash would be known.
func (m *Machine) stillNeeded() {
	pages := slices.Sorted(maps.Keys(m.needed))
	if len(pages) == 0 || m.spec.Bridge != messages.BridgeAuto || m.switched || m.stopping() {
		clear(m.needed)
		return
	}
	n := m.needed[pages[0]]
	clear(m.needed)
	m.switched = true
	m.do(BridgeTaken{n.Dialog, n.After})
	m.setBridge()
}
