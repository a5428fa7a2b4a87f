package link

import (
	"maps"
	"slices"

	"holdfast/actors/session/effect"
)

// What an anchor does by itself while the primary is away: it resumes the pages that the
// primary held, decides over requests, and turns off the functions that no other link
// answers for.

// primaryUp notes whether the primary stands beside.
func (m *Anchor) primaryUp(up bool) {
	m.isAlone = !up
	for _, s := range slices.Sorted(maps.Keys(m.bridges)) {
		m.bridges[s].LeftAlone(m.isAlone)
	}
	if m.isAlone {
		m.resumeAll()
		m.tellRequests()
	}
	m.maybeCloseOwned()
}

func (m *Anchor) resume(p *anchored) {
	p.isHeld = false
	m.do(effect.Command{Session: p.session, Tag: effect.Tag{Kind: effect.TagNone}, Method: effect.Resume})
}

// resumeAll resumes every page, whatever its flag said: what the primary held when it was
// lost is frozen until then (C33).
func (m *Anchor) resumeAll() {
	for _, t := range slices.Sorted(m.pages.Keys()) {
		if p := m.pages.At(t); p.session != "" {
			m.resume(p)
		}
	}
}
