package lease

import (
	"slices"

	"holdfast/internal/cluster/store"
)

// keepTerm founds the cluster, joins it or renews the term, one transaction at a time, and
// notices the deadline.
func (m *Machine) keepTerm() {
	if m.phase == Held && !m.grant.Allows(m.now) {
		m.grant = Grant{}
		m.become(Lapsed, "no renewal before the deadline, or the wall clock has stepped")
	}
	if m.inFlight != 0 || m.now.Boot < m.due {
		return
	}
	name := nodeKey(m.config.Name)
	record := NodeRecord{Instance: m.config.Instance, IsDraining: m.hasDrain, IsCordoned: m.config.IsCordoned, Info: m.config.Info}
	put := []store.Op{{Key: name, Value: encode(record)}}
	switch {
	case m.clusterRev == 0:
		value := encode(ClusterRecord{Format: format, Era: max(1, m.cluster.Era), Times: m.config.Times})
		m.inFlight = m.commit(pending{purpose: toFound}, store.Txn{
			If:   []store.Condition{{Key: clusterKey, Test: store.CreatedAt}},
			Then: []store.Op{{Key: clusterKey, Value: value}},
			Read: []string{clusterKey},
		})
	case m.term == 0:
		m.join(name, put)
	default:
		// The revision of the creation does not change by it, so an attempt may be repeated
		// whatever became of the one before.
		m.inFlight = m.commit(pending{purpose: toRenew}, store.Txn{If: []store.Condition{m.isMine()}, Then: put})
	}
}

// join puts the node's record where there is none. A record of its own run has been put by
// an attempt whose answer was lost; that of the run before it is deleted; another one has
// to stand unchanged for as long as others would wait for it.
func (m *Machine) join(name string, put []store.Op) {
	n := m.nodes[m.config.Name]
	switch {
	case n == nil:
		m.inFlight = m.commit(pending{purpose: toJoin}, store.Txn{
			If:   []store.Condition{{Key: name, Test: store.CreatedAt}, m.isEra()},
			Then: put,
			Read: []string{name, clusterKey},
		})
	case n.record.Instance == m.config.Instance && !m.isTermSpent:
		m.term = n.created
		m.adopt()
		m.become(Lapsed, "the term had begun by an attempt without an answer")
		m.keepTerm()
	case n.record.Instance == m.config.Instance, n.record.Instance == m.config.Predecessor && m.config.Predecessor != "",
		m.now.Boot-n.seen >= m.config.Times.Take+m.config.Times.Back:
		m.inFlight = m.commit(pending{purpose: toClear}, store.Txn{
			If:   []store.Condition{{Key: name, Test: store.ChangedAt, Revision: n.changed}},
			Then: []store.Op{{Key: name, IsDelete: true}},
			Read: []string{name},
		})
	}
}

// termAnswered takes the outcome of a transaction of keepTerm.
func (m *Machine) termAnswered(p pending, a Answered) {
	times := m.config.Times
	if a.IsUnknown {
		m.due = m.now.Boot + times.Retry
		return
	}
	for _, e := range a.Result.Found {
		m.fold(e, false, fromAnswer)
	}
	m.due = m.now.Boot + times.Retry
	switch {
	case p.purpose == toFound && a.Result.IsDone:
		op := p.puts[0]
		m.fold(store.Entry{Key: op.Key, Value: op.Value, Created: a.Result.Revision, Changed: a.Result.Revision}, false, fromAnswer)
	case p.purpose == toClear && a.Result.IsDone:
		m.isTermSpent = false
		m.fold(store.Entry{Key: p.puts[0].Key, Changed: a.Result.Revision}, true, fromAnswer)
	case p.purpose == toClear:
		m.list()
	case p.purpose == toJoin && a.Result.IsDone && m.term == 0 && m.phase == Outside:
		m.term, m.isTermSpent = a.Result.Revision, false
		m.foldOwn(p, a)
		m.adopt()
		m.renew(p.begun)
	case p.purpose == toJoin && !a.Result.IsDone:
		m.list()
	case p.purpose == toRenew && p.term == m.term && m.term != 0:
		if !a.Result.IsDone {
			m.loseTerm("the store has no record of the term")
			return
		}
		m.foldOwn(p, a)
		m.renew(p.begun)
	}
}

// foldOwn takes in the node's own record as the store has taken it.
func (m *Machine) foldOwn(p pending, a Answered) {
	op := p.puts[0]
	m.fold(store.Entry{Key: op.Key, Value: op.Value, Created: m.term, Changed: a.Result.Revision}, false, fromAnswer)
}

// renew counts a record that the store has taken: the lease runs from the begin of the
// attempt.
func (m *Machine) renew(begun Reading) {
	times := m.config.Times
	if m.phase == Held && begun.Boot-m.renewed > times.fresh() || m.phase != Held {
		m.back = m.now.Boot
	}
	m.renewed = begun.Boot
	m.due = max(m.now.Boot, begun.Boot+times.Renew)
	m.grant = Grant{Term: m.term, Deadline: begun.Boot + times.Own, Offset: begun.Wall - begun.Boot, Drift: times.drift()}
	if m.phase != Held && m.grant.Allows(m.now) {
		m.become(Held, "")
	}
}

// loseTerm ends all that rested on the term. The node joins again with a new one.
func (m *Machine) loseTerm(why string) {
	m.isTermSpent = true
	m.term, m.grant = 0, Grant{}
	m.due = m.now.Boot + m.config.Times.Retry
	m.become(Outside, why)
	for _, id := range sortedKeys(m.tasks) {
		m.cease(m.tasks[id], WhyFenced)
	}
}

// stop ends the machine for good.
func (m *Machine) stop(why string) {
	if m.phase == Stopped {
		return
	}
	m.loseTerm(why)
	m.become(Stopped, why)
}

// leave deletes the node's record, so that what it still has is free at once. The grant
// ends first.
func (m *Machine) leave() {
	if m.term == 0 {
		m.stop("left")
		return
	}
	txn := store.Txn{If: []store.Condition{m.isMine()}, Then: []store.Op{{Key: nodeKey(m.config.Name), IsDelete: true}}}
	m.stop("left")
	m.commit(pending{purpose: toLeave}, txn)
}

func (m *Machine) become(p Phase, why string) {
	if m.phase == p {
		return
	}
	m.phase = p
	m.do(Stood{Phase: p, Term: m.term, Why: why})
}

// canJudge says whether the node may take another one for dead: only with a lease of its
// own that is fresh, and not right after its own renewals came back from a gap. Otherwise
// each election in the store ends with everyone deleting everyone's record.
func (m *Machine) canJudge() bool {
	times := m.config.Times
	return m.phase == Held && m.grant.Allows(m.now) &&
		m.now.Boot-m.renewed <= times.fresh() && m.now.Boot-m.back >= times.Back
}

// judge ends the terms of nodes whose records have stood unchanged for Times.Take.
func (m *Machine) judge() {
	if !m.canJudge() {
		return
	}
	for _, name := range sortedKeys(m.nodes) {
		n := m.nodes[name]
		if name == m.config.Name || n.fencing != 0 || m.now.Boot-n.seen < m.config.Times.Take {
			continue
		}
		n.fencing = m.commit(pending{purpose: toFence, node: name}, store.Txn{
			If:   []store.Condition{{Key: nodeKey(name), Test: store.ChangedAt, Revision: n.changed}, m.isMine()},
			Then: []store.Op{{Key: nodeKey(name), IsDelete: true}},
		})
	}
}

// fenceAnswered takes the outcome of a fence. A refusal means that the record has moved on,
// and that the watch is behind.
func (m *Machine) fenceAnswered(p pending, a Answered) {
	if n := m.nodes[p.node]; n != nil && n.fencing == a.Attempt {
		n.fencing = 0
		if !a.IsUnknown && !a.Result.IsDone {
			n.seen = m.now.Boot
			m.list()
		}
	}
	if !a.IsUnknown && a.Result.IsDone {
		m.fences++
		m.fold(store.Entry{Key: nodeKey(p.node), Changed: a.Result.Revision}, true, fromAnswer)
	}
}

// isOver says whether a holder's term is known to be over. A record that is older than the
// term has not been seen yet: the watch is behind, and nothing is known.
func (m *Machine) isOver(h holder) bool {
	n := m.nodes[h.node]
	return n == nil || n.created > h.term
}

// others are the candidates for a task, without this node.
func (m *Machine) others() []string {
	return slices.DeleteFunc(candidates(m.nodes), func(name string) bool { return name == m.config.Name })
}
