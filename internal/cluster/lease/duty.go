package lease

import (
	"cmp"
	"slices"

	"holdfast/internal/cluster/placement"
	"holdfast/internal/cluster/store"
)

// tend goes through what this node is to hand over, to end, or to find out.
func (m *Machine) tend() {
	for _, id := range sortedKeys(m.busy) {
		t := m.tasks[id]
		if t.duty.attempt != 0 || m.now.Boot < t.duty.retry {
			continue
		}
		switch t.duty.step {
		case doubting:
			m.confirm(t)
		case ending:
			m.deleteTask(t)
		}
	}
	if m.hasDrain {
		m.drain()
	}
}

// drain begins the next hand-overs of a node that is to give up all it has.
func (m *Machine) drain() {
	for _, id := range sortedKeys(m.holders[holder{m.config.Name, m.term}]) {
		if len(m.busy) >= MaxMoving {
			return
		}
		if d := m.tasks[id].duty; d != nil && m.now.Boot >= d.retry {
			m.gather(id, "")
		}
	}
}

// adopt begins the tasks that others have handed to a term which this node has just come
// to know as its own.
func (m *Machine) adopt() {
	for _, id := range sortedKeys(m.holders[holder{m.config.Name, m.term}]) {
		if t := m.tasks[id]; t.duty == nil {
			m.begin(t, 0)
		}
	}
}

// gather begins a hand-over, where there is an heir.
func (m *Machine) gather(id, heir string) {
	t := m.tasks[id]
	if t == nil || t.duty == nil || t.duty.step != deciding || t.own.IsBound {
		return
	}
	if heir == "" {
		heir = placement.First(t.place, m.others())
	}
	if heir == m.config.Name || m.nodes[heir] == nil {
		return
	}
	t.duty.step, t.duty.heir = gathering, heir
	m.busy[id] = true
	m.do(Gather{Task: id, Epoch: t.duty.epoch, Heir: heir})
}

// gathered writes the heir into the task's record: from here on the node decides nothing
// for it, until it knows that the record is still its own.
func (m *Machine) gathered(in Gathered) {
	t := m.tasks[in.Task]
	if !m.isGathering(t, in.Epoch) {
		return
	}
	d := t.duty
	heir := m.nodes[d.heir]
	if heir == nil || m.phase != Held {
		d.retry = m.now.Boot + m.config.Times.Retry
		m.resume(t)
		return
	}
	next := t.own
	next.Node, next.Term, next.Era, next.Changes = d.heir, heir.created, m.cluster.Era, t.own.Changes+1
	d.step, d.doubt = handing, t.ownRev
	d.attempt = m.commit(pending{purpose: toHandOver, tasks: []string{t.id}}, store.Txn{
		If: []store.Condition{
			m.isMine(), m.isEra(),
			{Key: nodeKey(d.heir), Test: store.CreatedAt, Revision: heir.created},
			{Key: ownKey(t.id), Test: store.ChangedAt, Revision: t.ownRev},
		},
		Then: []store.Op{{Key: ownKey(t.id), Value: encode(next)}},
	})
}

// isGathering says whether a Gather is to be answered. One of an earlier epoch has perhaps stopped
// a task that this node decides for: it is told to go on.
func (m *Machine) isGathering(t *task, epoch Epoch) bool {
	if t == nil || t.duty == nil {
		return false
	}
	if t.duty.step == deciding {
		m.do(Resume{Task: t.id, Epoch: t.duty.epoch})
	}
	return t.duty.step == gathering && t.duty.epoch == epoch
}

// kept takes a hand-over back that the task is not ready for. It is tried again after a while.
func (m *Machine) kept(in Kept) {
	t := m.tasks[in.Task]
	if !m.isGathering(t, in.Epoch) {
		return
	}
	t.duty.retry = m.now.Boot + m.config.Times.Renew
	m.resume(t)
}

// confirm writes the record as it is. Reading it would not do: a hand-over without an
// outcome may still arrive at the store after the reading.
func (m *Machine) confirm(t *task) {
	t.duty.attempt = m.commit(pending{purpose: toConfirm, tasks: []string{t.id}}, store.Txn{
		If:   []store.Condition{m.isMine(), {Key: ownKey(t.id), Test: store.ChangedAt, Revision: t.ownRev}},
		Then: []store.Op{{Key: ownKey(t.id), Value: encode(t.own)}},
	})
}

// end begins to delete a task. The node decides nothing for it from here on.
func (m *Machine) end(id string) {
	t := m.tasks[id]
	if t == nil || t.duty == nil || t.duty.step != deciding {
		return
	}
	t.duty.step = ending
	m.busy[id] = true
	if m.phase == Held {
		m.deleteTask(t)
	}
}

func (m *Machine) deleteTask(t *task) {
	t.duty.attempt = m.commit(pending{purpose: toEnd, tasks: []string{t.id}}, store.Txn{
		If:   []store.Condition{m.isMine(), {Key: ownKey(t.id), Test: store.ChangedAt, Revision: t.ownRev}},
		Then: []store.Op{{Key: ownKey(t.id), IsDelete: true}, {Key: specKey(t.id), IsDelete: true}, {Key: MemoryKey(t.id), IsDelete: true}},
	})
}

// dutyAnswered takes the outcome of a hand-over, of its confirmation or of an end.
func (m *Machine) dutyAnswered(p pending, a Answered) {
	t := m.tasks[p.tasks[0]]
	isDone := !a.IsUnknown && a.Result.IsDone
	if isDone {
		created := int64(0)
		if t != nil {
			created = t.ownCreated
		}
		for _, op := range p.puts {
			m.fold(store.Entry{Key: op.Key, Value: op.Value, Created: created, Changed: a.Result.Revision}, op.IsDelete, fromAnswer)
		}
	}
	if t == nil || t.duty == nil || t.duty.attempt != a.Attempt {
		return
	}
	d := t.duty
	d.attempt = 0
	d.retry = m.now.Boot + m.config.Times.Retry
	switch {
	case isDone:
	case p.purpose == toHandOver && a.IsUnknown:
		d.step = doubting
	case p.purpose == toHandOver:
		// Refused, and so never carried out.
		m.resume(t)
		m.list()
	case !a.IsUnknown:
		m.list()
	}
}

func sortTasks(tasks []*task) {
	slices.SortFunc(tasks, func(a, b *task) int { return cmp.Compare(a.id, b.id) })
}
