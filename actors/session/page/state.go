package page

import (
	"maps"
	"slices"

	"holdfast/actors/session/effect"
	"holdfast/messages"
)

// State returns what the machine knows, one line for each fact, for transcripts and for
// the log after a panic. It holds no address, no title and no text of the page.
func (m *Machine) State() string {
	var s effect.State
	s.Fact("page", m.cfg.Page)
	s.Fact("frame", m.frameID())
	s.Fact("session", m.cfg.Session)
	s.Fact("link", uint64(m.cfg.Gen))
	s.Fact("attach", m.round)
	s.Fact("health", m.health)
	s.Fact("has its Page domain", m.isEnabled)
	s.Fact("held until the anchor sees it", m.isHeld)
	s.Fact("has its frames", m.isReady)
	s.Fact("announced", m.isAnnounced)
	s.Fact("owes a sign of life", m.isProbing)
	s.Fact("between two documents", m.isStranded)
	s.Fact("left for a blank page", m.isAway)
	s.Fact("restoring", m.isRestoring)
	for _, d := range m.dialogs {
		s.Fact("dialog", d.ID)
	}
	s.Fact("dialogs hold the renderer", m.isHolding)
	for _, c := range m.children {
		s.Fact("attached frame", c.Session)
	}
	s.Fact("held frames", slices.Sorted(maps.Keys(m.heldFrames)))
	for _, n := range m.navs {
		s.Fact("navigation", n.id)
		s.Fact("navigation begun", n.hasBegun)
		s.Fact("navigation answered", n.isSent)
	}
	if r := m.reloading; r != nil {
		s.Fact("reload", r.stage.String())
	}
	s.Within("bridge", m.bridge.State)
	return s.String()
}

// frameID is the frame of the session that is no page's.
func (m *Machine) frameID() messages.TargetID {
	if m.cfg.IsPage {
		return ""
	}
	return m.cfg.Target
}

// String names the stage.
func (s reloadStage) String() string {
	switch s {
	case stageTerminate:
		return "ends what the renderer runs"
	case stageReload:
		return "loads"
	case stageAway:
		return "leaves for a blank page"
	default:
		return "has its new document"
	}
}
