package task

import (
	"maps"
	"slices"

	"holdfast/actors/supervisor/party"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The standby on another node is a party of the task's pages, as the anchor is: it leaves a page
// before that is released (C19) or closed (C15). It reads on the board which pages to leave. There
// are two for a moment while another node takes its place.

// standbyAttached notes that a node has a standby, and whether that sees the pages.
func (m *Machine) standbyAttached(s mail.StandbyAttached) {
	if _, isKnown := m.standbys[s.Node]; !isKnown {
		m.Parties.Join(party.Standby(s.Node))
	}
	smallmap.Put(&m.standbys, s.Node, s.IsUp)
	m.showStandby()
}

// showStandby shows which node has the standby: the one that is shown, as long as that sees the pages.
func (m *Machine) showStandby() {
	node := m.AnchorNode
	if !m.standbys[node] {
		node = ""
		for _, n := range slices.Sorted(maps.Keys(m.standbys)) {
			if m.standbys[n] {
				node = n
			}
		}
	}
	if m.AnchorNode != node {
		m.AnchorNode = node
		m.TellConnection() // it has no event of its own
	}
}

// standbyLeft notes that a standby has left a page.
func (m *Machine) standbyLeft(l mail.StandbyLeft) {
	m.DoAll(m.Parties.Left(party.Standby(l.Node), l.Page))
	if !m.standbyStays[l] {
		return
	}
	if delete(m.standbyStays, l); !m.Anchor.IsAlive() {
		m.leaveBrowser()
	}
}

// standbyGone notes that the standby of a node has left all pages.
func (m *Machine) standbyGone(node string) {
	if _, isKnown := m.standbys[node]; !isKnown {
		return
	}
	delete(m.standbys, node)
	m.showStandby()
	m.DoAll(m.Parties.Gone(party.Standby(node)))
	for l := range m.standbyStays {
		if l.Node == node {
			m.standbyLeft(l)
		}
	}
}

// partWithStandbys has them leave the pages that are freed at the task's end.
func (m *Machine) partWithStandbys() {
	for node := range m.standbys {
		for _, t := range m.HeldAtTheEnd() {
			smallmap.Put(&m.standbyStays, mail.StandbyLeft{Node: node, Page: t}, true)
		}
	}
}

// standbyOff are the pages that standbys are to keep away from.
func (m *Machine) standbyOff() (off []messages.TargetID) {
	for _, t := range m.Order {
		if len(m.standbys) > 0 && (m.IsBeingFreed(t) || m.isStillHeld(t)) {
			off = append(off, t)
		}
	}
	slices.Sort(off)
	return off
}

// isStillHeld says whether a standby is still to leave the page at the task's end.
func (m *Machine) isStillHeld(t messages.TargetID) bool {
	for l := range m.standbyStays {
		if l.Page == t {
			return true
		}
	}
	return false
}
