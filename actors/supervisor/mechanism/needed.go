package mechanism

import (
	"slices"
	"strings"
	"time"

	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
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

// Needed turns a task to the bridge whose browser closes native dialogs by itself. It does not
// where the dialog's renderer turns out to have crashed, or its document to have gone, or the
// page goes, or the link does that would tell.
func (m *Machine) Needed(of mail.BridgeNeeded) {
	n := model.Needed{BridgeNeeded: of, Of: m.FrameAndAbove(of.Page, of.Frame)}
	if m.Spec.Bridge != messages.BridgeAuto || m.IsBridgeForced || m.IsStopping() || m.HasCrashedUnder(n.BridgeNeeded) {
		return
	}
	p := m.Pages.At(n.Page)
	if p == nil || p.Session == "" {
		return // which has gone already
	}
	if p.HasMovedUnder(n) {
		return
	}
	if _, noted := m.needed[n.Page]; noted {
		return
	}
	smallmap.Put(&m.needed, n.Page, n)
	m.Arm(timerNeeded+string(n.Page), crashGrace)
}

// FrameMoved notes when a frame of a page got another document, and that a dialog of the
// one before ended with it.
func (m *Machine) FrameMoved(f mail.FrameMoved) {
	p := m.Pages.At(f.Page)
	if p == nil || m.Spec.Bridge != messages.BridgeAuto || m.IsBridgeForced {
		return
	}
	if f.Heard.IsZero() {
		f.Heard = m.Now
	}
	if len(p.Moved) == model.MaxMoved {
		p.Moved = slices.Delete(p.Moved, 0, 1)
	}
	p.Moved = append(p.Moved, model.Moved{Frame: f.Frame, At: f.Heard})
	if n, noted := m.needed[f.Page]; noted && p.HasMovedUnder(n) {
		delete(m.needed, f.Page)
	}
}

// PageCrashed says that a renderer of the page has crashed.
func (m *Machine) PageCrashed(t messages.TargetID) {
	if n, noted := m.needed[t]; noted && m.HasCrashedUnder(n.BridgeNeeded) {
		delete(m.needed, t)
	}
}

// PageClosed says that there is no such page any more.
func (m *Machine) PageClosed(t messages.TargetID) { delete(m.needed, t) }

// HandleTimer says whether the timer is of this machine. It comes due once the end of the page's
// renderer or document would be known.
func (m *Machine) HandleTimer(name string) bool {
	page, ok := strings.CutPrefix(name, timerNeeded)
	if ok {
		m.stillNeeded(messages.TargetID(page))
	}
	return ok
}

func (m *Machine) stillNeeded(page messages.TargetID) {
	n, noted := m.needed[page]
	delete(m.needed, page)
	if !noted || m.Spec.Bridge != messages.BridgeAuto || m.IsBridgeForced || m.IsStopping() {
		return
	}
	m.IsBridgeForced = true
	m.Do(step.BridgeTaken{Dialog: n.Dialog, After: n.After})
	m.FollowSpec()
}
