package lease

import (
	"encoding/json"
	"time"
)

// Status is what a machine knows of the cluster at an instant.
type Status struct {
	Phase Phase
	Term  int64
	Era   uint32
	// Fences counts the terms of other nodes that this machine has ended.
	Fences uint64
	Nodes  []NodeStatus // by name
}

// NodeStatus is what is known of one node.
type NodeStatus struct {
	Name       string
	Term       int64
	IsDraining bool
	IsCordoned bool
	// Unrenewed is for how long this machine has seen no change of the node's record.
	Unrenewed time.Duration
	// Tasks is how many ownership records name the node in this term.
	Tasks int
	Info  json.RawMessage
}

// Status returns what the machine knows at a reading of its clocks.
func (m *Machine) Status(now Reading) Status {
	s := Status{Phase: m.phase, Term: m.term, Era: m.cluster.Era, Fences: m.fences}
	for _, name := range sortedKeys(m.nodes) {
		n := m.nodes[name]
		s.Nodes = append(s.Nodes, NodeStatus{
			Name: name, Term: n.created, IsDraining: n.record.IsDraining, IsCordoned: n.record.IsCordoned, Unrenewed: now.Boot - n.seen,
			Tasks: len(m.holders[holder{name, n.created}]), Info: n.record.Info,
		})
	}
	return s
}
