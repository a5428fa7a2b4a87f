package lease

import (
	"slices"

	"holdfast/internal/cluster/placement"
)

// Standby is a task that this node is to hold a link for, since it would take it over.
type Standby struct {
	Task string
	// Node has the task, under Epoch. It is "" once its term is over, or once this node is the
	// owner: a standby that stands is to stay, and none is to begin.
	Node  string
	Epoch Epoch
	// SpecRevision changes with the task's spec.
	SpecRevision int64
}

// Standbys returns the tasks of other nodes that this one is second for: the first in rank without
// the task's node, which is the one that would take it. It is false while this node has no lease,
// and knows too little.
func (m *Machine) Standbys() ([]Standby, bool) {
	if m.phase != Held || !m.grant.Allows(m.now) {
		return nil, false
	}
	names := candidates(m.nodes)
	without := map[string][]string{} // names but that of the owner
	var list []Standby
	for id, t := range m.tasks {
		if t.ownRev == 0 || t.own.Node == "" || t.place == "" || t.isBound || t.own.IsBound || t.own.IsLost {
			continue
		}
		s := Standby{Task: id, Node: t.own.Node, Epoch: t.epoch(), SpecRevision: t.specRev}
		if t.own.Node == m.config.Name || m.isOver(t.holder()) {
			s.Node = ""
			list = append(list, s)
			continue
		}
		others, isKnown := without[t.own.Node]
		if !isKnown {
			others = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == t.own.Node })
			without[t.own.Node] = others
		}
		if placement.First(t.place, others) == m.config.Name {
			list = append(list, s)
		}
	}
	return list, true
}
