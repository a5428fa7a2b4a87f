package lease

import (
	"fmt"
	"strings"
)

// State prints what the machine knows, a line a fact, for a log and for transcripts. It
// names no value of a spec.
func (m *Machine) State() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s term=%d deadline=%v era=%d pending=%d\n", m.config.Name, m.phase, m.term, m.grant.Deadline, m.cluster.Era, len(m.pending))
	for _, name := range sortedKeys(m.nodes) {
		n := m.nodes[name]
		fmt.Fprintf(&b, "node %s term=%d changed=%d seen=%v draining=%v\n", name, n.created, n.changed, n.seen, n.record.IsDraining)
	}
	for _, id := range sortedKeys(m.tasks) {
		t := m.tasks[id]
		owner := "none"
		if t.ownRev != 0 {
			owner = fmt.Sprintf("%s/%d epoch=%v", t.own.Node, t.own.Term, t.epoch())
		}
		fmt.Fprintf(&b, "task %s owner=%s", id, owner)
		if t.own.IsLost {
			b.WriteString(" lost")
		}
		if d := t.duty; d != nil {
			fmt.Fprintf(&b, " %s from=%v", stepNames[d.step], d.notBefore)
			if d.heir != "" {
				fmt.Fprintf(&b, " heir=%s", d.heir)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
