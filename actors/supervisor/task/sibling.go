package task

import (
	"slices"

	"holdfast/actors/session/bridge"
	"holdfast/actors/supervisor/step"
	"holdfast/messages"
)

// Tasks of a node may have the same pages. What one asks there over its bridge waits in the
// debuggers of all (C47), and only that task can tell whose call it is.

// tellSiblings says that no task answers what this task's bridge asks on pages. With no
// debugger left the call would continue by itself.
func (m *Machine) tellSiblings(ended bool, pages ...messages.TargetID) {
	if len(pages) == 0 {
		return
	}
	for by := range m.BridgedBy.All() { // also of what it has no more: a link may have left it there
		m.Do(step.TellSiblings{Left: bridge.SiblingLeft{
			Secret: m.BridgeSecret, By: by, Epoch: m.Epoch + 2, Pages: slices.Clone(pages), HasEnded: ended,
		}, MustRemember: ended && m.Spec.Launch == nil})
	}
}

func (m *Machine) siblingLeft(l bridge.SiblingLeft) {
	for _, s := range m.SessionOrder() {
		if slices.Contains(l.Pages, m.Sessions.At(s).Cfg.Page) {
			m.ToSession(s, l)
		}
	}
	m.ToAnchor(l)
}
