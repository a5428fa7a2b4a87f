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
// itself, unless the dialog's renderer turns out to have crashed, or the page goes, or
// the link does that would tell.
func (m *Machine) bridgeNeeded(n messages.BridgeNeeded) {
	if m.spec.Bridge != messages.BridgeAuto || m.switched || m.stopping() || m.crashedUnder(n) {
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

// crashedUnder says whether the renderer of the dialog's frame has crashed since the
// dialog opened: one that had crashed before opened none. A frame may have gone with its
// renderer, and nobody knows any more which it had.
func (m *Machine) crashedUnder(n messages.BridgeNeeded) bool {
	holder, gone := m.holder(messages.Dialog{TargetID: n.Page, FrameID: n.Frame}), !m.hasFrame(n.Page, n.Frame)
	for s, e := range m.sessions.All() {
		if e.cfg.Page == n.Page && (s == holder || gone) && !e.crashed.IsZero() && !e.crashed.Before(n.Heard) {
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
