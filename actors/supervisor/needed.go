package supervisor

import (
	"slices"
	"time"

	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// A dialog that closes as soon as it has opened was dismissed by another client, or its
// renderer has crashed, or its document is going, by a navigation or with its frame or page
// (C13). Those are reported beside the dialog's end, by another way.
const crashGrace = 50 * time.Millisecond

// timerNeeded has the page for its end.
const timerNeeded = "needed:"

// needed is a dialog that ended too soon, with the frames whose documents it could have
// ended with.
type needed struct {
	mail.BridgeNeeded
	of []messages.FrameID
}

// moved is a frame that got another document, or went.
type moved struct {
	frame messages.FrameID
	at    time.Time
}

// maxMoved bounds those that are remembered of a page.
const maxMoved = 32

// bridgeNeeded turns a task to the bridge whose browser closes native dialogs by
// itself, unless the dialog's renderer turns out to have crashed, or its document to have
// gone, or the page goes, or the link does that would tell.
func (m *Machine) bridgeNeeded(of mail.BridgeNeeded) {
	n := needed{of, m.frameAndAbove(of.Page, of.Frame)}
	if m.spec.Bridge != messages.BridgeAuto || m.switched || m.stopping() || m.crashedUnder(n.BridgeNeeded) {
		return
	}
	p := m.pages.At(n.Page)
	if p == nil || p.session == "" {
		return // which has gone already
	}
	if p.movedUnder(n) {
		return
	}
	if _, noted := m.needed[n.Page]; noted {
		return
	}
	smallmap.Put(&m.needed, n.Page, n)
	m.do(Arm{timerNeeded + string(n.Page), crashGrace})
}

// frameMoved notes when a frame of a page got another document, and that a dialog of the
// one before ended with it.
func (m *Machine) frameMoved(f mail.FrameMoved) {
	p := m.pages.At(f.Page)
	if p == nil || m.spec.Bridge != messages.BridgeAuto || m.switched {
		return
	}
	if f.Heard.IsZero() {
		f.Heard = m.now
	}
	if len(p.moved) == maxMoved {
		p.moved = slices.Delete(p.moved, 0, 1)
	}
	p.moved = append(p.moved, moved{f.Frame, f.Heard})
	if n, noted := m.needed[f.Page]; noted && p.movedUnder(n) {
		delete(m.needed, f.Page)
	}
}

// movedUnder says whether the dialog's document may have gone since it opened. With as many
// as are remembered since then, it may.
func (p *pageEntry) movedUnder(n needed) bool {
	since := func(at moved) bool { return at.at.After(n.Heard) }
	if len(p.moved) == maxMoved && since(p.moved[0]) {
		return true
	}
	return slices.ContainsFunc(p.moved, func(at moved) bool { return since(at) && slices.Contains(n.of, at.frame) })
}

// frameAndAbove are a frame of a page and those around it, as far as they are known.
func (m *Machine) frameAndAbove(page messages.TargetID, f messages.FrameID) []messages.FrameID {
	list := []messages.FrameID{f}
	if t := m.trees.At(page); t != nil {
		for i := len(t.Children) - 1; i >= 0; i-- { // parents stand before their children
			if c := t.Children[i]; c.FrameID == f {
				f = c.ParentFrameID
				list = append(list, f)
			}
		}
	}
	return append(list, messages.FrameID(page))
}

// crashedUnder says whether the renderer of the dialog's frame has crashed since the dialog
// opened: one that had crashed before opened none. A frame may have gone with its renderer,
// and then it is not known any more which it had.
func (m *Machine) crashedUnder(n mail.BridgeNeeded) bool {
	holder, gone := m.holder(messages.Dialog{TargetID: n.Page, FrameID: n.Frame}), !m.hasFrame(n.Page, n.Frame)
	for s, e := range m.sessions.All() {
		if e.cfg.Page == n.Page && (s == holder || gone) && !e.crashed.IsZero() && !e.crashed.Before(n.Heard) {
			return true
		}
	}
	return false
}

// stillNeeded comes once the end of the page's renderer or document would be known.
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
