package supervisor

import (
	"time"

	"holdfast/internal/few"
	"holdfast/messages"
)

// A dialog that closes as soon as it has opened was dismissed by somebody, or its
// renderer has crashed, or its page is closing (C13). Those are told of next to the
// dialog's end, by another way.
const crashGrace = 50 * time.Millisecond

// timerNeeded has the page for its end.
const timerNeeded = "needed:"

// bridgeNeeded turns a task to the bridge whose browser closes native dialogs by
// itself, unless the page turns out to have crashed, or goes, or the link does that
// would tell.
func (m *Machine) bridgeNeeded(n messages.BridgeNeeded) {
	if m.spec.Bridge != messages.BridgeAuto || m.switched || m.stopping() || m.hasCrashed(n.Page) {
		return
	}
	if p := m.pages.At(n.Page); p == nil || p.session == "" {
		return // which has gone already
	}
	if _, noted := m.needed[n.Page]; noted {
		return
	}
	few.Put(&m.needed, n.Page, n)
	m.do(Arm{timerNeeded + string(n.Page), crashGrace})
}

func (m *Machine) hasCrashed(t messages.TargetID) bool {
	for _, e := range m.sessions.All() {
		if e.cfg.Page == t && e.health == messages.PageCrashed {
			return true
		}
	}
	return false
}

// stillNeeded comes once the page's crash or end would be known.
func (m *Machine) stillNeeded(page messages.TargetID) {
	n, noted := m.needed[page]
	delete(m.needed, page)
	if !noted || m.spec.Bridge != messages.BridgeAuto || m.switched || m.stopping() {
		return
	}
	m.switched = true
	m.do(BridgeTaken{n.Dialog, n.After})
	m.setBridge()
}
