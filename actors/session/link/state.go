package link

import (
	"maps"
	"slices"

	"holdfast/actors/session/effect"
)

// State returns what the machine knows, one line for each fact, for transcripts and for
// the log after a panic.
func (m *Primary) State() string {
	var s effect.State
	s.Fact("link", uint64(m.cfg.Gen))
	s.Fact("scope", m.cfg.Scope)
	s.Fact("attached", m.isAttached)
	s.Fact("leaving", m.isLeaving)
	s.Fact("stops attaching", m.last.isBegun)
	s.Fact("waits for ends", m.closing)
	s.Fact("owned", slices.Sorted(m.owned.Keys()))
	for _, t := range m.sortedPages() {
		p := m.pages.At(t)
		s.Within("page "+string(t), func(s *effect.State) {
			s.Fact("session", p.session)
			s.Fact("has no session", p.session == "")
			s.Fact("closing", p.isClosing)
			s.Fact("releasing", p.isReleasing)
			s.Fact("left, to come back", p.isReturning)
			s.Fact("tries to free it", p.tries)
		})
	}
	for _, a := range m.undecided {
		s.Fact("undecided", a.Info.ID)
	}
	for _, c := range m.creating {
		s.Within("page being made", func(s *effect.State) {
			s.Fact("number", c.seq)
			s.Fact("first", c.isFirst)
			s.Fact("frees", c.helper)
			s.Fact("waits for what the browser is", c.isWaiting)
		})
	}
	s.Fact("helpers left by earlier links", m.helpersLeft)
	s.Fact("asks for a browser context", m.isolation.isAsking)
	s.Fact("has a browser context", m.isolation.context != "")
	return s.String()
}

// State returns what the machine knows, one line for each fact, for transcripts and for
// the log after a panic.
func (m *Anchor) State() string {
	var s effect.State
	s.Fact("link", uint64(m.cfg.Gen))
	s.Fact("scope", m.cfg.Scope)
	s.Fact("attached", m.isAttached)
	s.Fact("settled", m.isSettled)
	s.Fact("alone", m.isAlone)
	s.Fact("leaving", m.isLeaving)
	s.Fact("stops attaching", m.last.isBegun)
	s.Fact("calm", m.isCalm)
	s.Fact("owned", slices.Sorted(m.owned.Keys()))
	s.Fact("left", slices.Sorted(maps.Keys(m.left)))
	for _, t := range slices.Sorted(m.pages.Keys()) {
		p := m.pages.At(t)
		s.Within("page "+string(t), func(s *effect.State) {
			s.Fact("session", p.session)
			s.Fact("being attached", p.session == "")
			s.Fact("covered", p.isCovered)
			s.Fact("held", p.isHeld)
		})
	}
	for _, t := range slices.Sorted(maps.Keys(m.frames)) {
		s.Fact("frame "+string(t), m.frames[t].session)
	}
	s.Fact("to be freed", slices.Sorted(maps.Keys(m.toFree)))
	if m.closer != nil {
		s.Within("closes: ", func(s *effect.State) { s.Fact("waits for ends", m.closer.closing) })
	}
	s.Fact("requests told to the primary", len(m.requested))
	s.Fact("requests of remembered dialogs", len(m.strays))
	for _, id := range slices.Sorted(maps.Keys(m.bridges)) {
		s.Within("session "+string(id)+" bridge", m.bridges[id].State)
	}
	return s.String()
}
