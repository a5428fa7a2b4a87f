package session

import (
	"maps"
	"slices"
)

// What an anchor does by itself while the primary is away: it lets run what that held,
// decides over requests, and gives up the functions that nobody else answers for.

// primaryUp notes whether the primary stands beside.
func (m *AnchorMachine) primaryUp(up bool) {
	m.alone = !up
	for _, s := range slices.Sorted(maps.Keys(m.bridges)) {
		m.bridges[s].leftAlone(m.alone)
	}
	if m.alone {
		m.resumeAll()
		m.tellRequests()
	}
	m.maybeCloseOwned()
}

func (m *AnchorMachine) resume(p *anchored) {
	p.held = false
	m.do(Command{Session: p.session, Tag: Tag{Kind: TagNone}, Method: resume})
}

// resumeAll lets every page run, whatever its flag said: what the primary held
// when it was lost is frozen until somebody does (C33).
func (m *AnchorMachine) resumeAll() {
	for _, t := range slices.Sorted(m.pages.Keys()) {
		if p := m.pages.At(t); p.session != "" {
			m.resume(p)
		}
	}
}
