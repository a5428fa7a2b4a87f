package lease

import (
	"slices"
	"time"

	"holdfast/internal/cluster/placement"
	"holdfast/internal/cluster/store"
)

const (
	// maxBatch is how many tasks a transaction takes at most.
	maxBatch = 100
	// MaxMoving is how many tasks a draining node hands over at a time.
	MaxMoving = 8
)

// task is what is known of a task's records, and this node's duty where it is the owner.
type task struct {
	id string

	place       string // "": no spec, or one that breaks the rules
	isBound     bool
	specRev     int64
	specCreated int64

	own        Ownership
	ownRev     int64 // 0: no record
	ownCreated int64

	claimed   []byte        // the spec to be put by the take that begins
	freeSince time.Duration // when it was first seen to be free; 0: it is not
	taking    uint64        // the attempt under way
	duty      *duty
}

// duty is the supervision of a task by this node.
type duty struct {
	epoch     Epoch
	notBefore time.Duration
	step      step
	heir      string
	doubt     int64 // the revision that a transaction without an outcome compares
	retry     time.Duration
	attempt   uint64
}

// step is how far a duty is.
type step uint8

const (
	deciding  step = iota
	gathering      // commands that decide come to their end
	handing        // the transaction that names the heir is under way
	doubting       // its outcome is not known: the node is not the owner until it knows
	ending         // the task's records are being deleted
)

var stepNames = map[step]string{deciding: "deciding", gathering: "gathering", handing: "handing", doubting: "doubting", ending: "ending"}

func (t *task) epoch() Epoch { return epochOf(t.own.Era, t.ownCreated, t.own.Changes) }

func (t *task) holder() holder { return holder{t.own.Node, t.own.Term} }

func (m *Machine) task(id string) *task {
	t := m.tasks[id]
	if t == nil {
		t = &task{id: id}
		m.tasks[id] = t
	}
	return t
}

// index keeps a task under whom its record names, and forgets it once it has no record.
func (m *Machine) index(t *task) {
	if t.ownRev == 0 && t.specRev == 0 {
		m.unindex(t.id, t.holder())
		delete(m.tasks, t.id)
		return
	}
	h := t.holder()
	if m.holders[h] == nil {
		m.holders[h] = map[string]bool{}
	}
	m.holders[h][t.id] = true
}

func (m *Machine) unindex(id string, h holder) {
	delete(m.holders[h], id)
	if len(m.holders[h]) == 0 {
		delete(m.holders, h)
	}
}

// owned keeps a new ownership record, or with the zero entry that there is none, and
// begins or ends this node's duty by it.
func (m *Machine) owned(t *task, r Ownership, e store.Entry) {
	m.unindex(t.id, t.holder())
	wasFreeSince := t.freeSince
	t.own, t.ownRev, t.ownCreated, t.freeSince = r, e.Changed, e.Created, 0
	m.index(t)

	isMine := r.Node == m.config.Name && r.Term == m.term && m.term != 0
	if d := t.duty; d != nil && isMine && d.epoch == t.epoch() {
		// The record was written anew, so what compares an older revision fails from now on.
		if d.step == doubting && e.Changed > d.doubt {
			m.resume(t)
		}
		return
	}
	why := WhyMoved
	if e.Changed == 0 {
		why = WhyEnded
	}
	m.cease(t, why)
	if isMine {
		m.begin(t, wasFreeSince)
	}
}

// begin has this node supervise a task, which has been free since a moment, or 0.
func (m *Machine) begin(t *task, freeSince time.Duration) {
	d := &duty{epoch: t.epoch(), notBefore: m.now.Boot}
	if freeSince != 0 {
		d.notBefore = max(d.notBefore, freeSince+m.config.Times.Settle)
	}
	t.duty = d
	m.do(Begin{Task: t.id, Epoch: d.epoch, NotBefore: d.notBefore, IsLost: t.own.IsLost})
}

func (m *Machine) cease(t *task, why Why) {
	if t.duty == nil {
		return
	}
	m.do(Cease{Task: t.id, Epoch: t.duty.epoch, Why: why})
	t.duty = nil
	delete(m.busy, t.id)
}

func (m *Machine) resume(t *task) {
	t.duty.step, t.duty.heir = deciding, ""
	delete(m.busy, t.id)
	m.do(Resume{Task: t.id, Epoch: t.duty.epoch})
}

// takeFree takes the tasks whose owner's term is over, and those that have no owner yet,
// where this node ranks first for them.
func (m *Machine) takeFree() {
	if m.hasDrain || !m.grant.Allows(m.now) {
		return
	}
	var free []*task
	for h, ids := range m.holders {
		if h.term != 0 && !m.isOver(h) {
			continue
		}
		for id := range ids {
			free = append(free, m.tasks[id])
		}
	}
	if len(free) == 0 {
		return
	}
	sortTasks(free)
	names := candidates(m.nodes)
	var batch []*task
	for _, t := range free {
		if t.ownRev != 0 && t.own.Node == "" { // a record that breaks the rules: not ours to judge
			continue
		}
		if t.freeSince == 0 && t.ownRev != 0 {
			t.freeSince = m.now.Boot
		}
		if t.taking != 0 || t.place == "" || m.heirOf(t, names) != m.config.Name {
			continue
		}
		batch = append(batch, t)
		if len(batch) >= min(m.batch, maxBatch) {
			m.take(batch)
			batch = nil
		}
	}
	if len(batch) > 0 {
		m.take(batch)
	}
}

// comeback is how long a free task waits for a node of its last owner's name, which a restart
// brings back at once. It is shorter than what a new owner waits for anyway.
const comeback = 150 * time.Millisecond

// heirOf is the node that takes a free task: a node that has come back under the last owner's
// name, or the first in rank. It is "" while that is not known.
func (m *Machine) heirOf(t *task, names []string) string {
	switch {
	case t.ownRev == 0:
	case slices.Contains(names, t.own.Node):
		return t.own.Node
	case m.nodes[t.own.Node] == nil && m.now.Boot-t.freeSince < min(comeback, m.config.Times.Settle):
		return ""
	}
	return placement.First(t.place, names)
}

// claim takes one task that has no owner, or one whose term is over.
func (m *Machine) claim(id string, spec []byte) {
	if m.phase != Held || m.hasDrain || !m.grant.Allows(m.now) || !isText(id, maxTaskID) {
		return
	}
	t := m.task(id)
	if t.taking != 0 || t.ownRev != 0 && (t.own.Node == "" || !m.isOver(t.holder())) {
		return
	}
	if t.freeSince == 0 && t.ownRev != 0 {
		t.freeSince = m.now.Boot
	}
	if r, err := decodeSpec(spec); err == nil {
		t.claimed, t.isBound = spec, r.IsBound
	}
	m.take([]*task{t})
	t.claimed = nil
}

// take names this node the owner of tasks, in as many transactions as their conditions
// need. Each compares what was seen of the task, and that the old owner's term has not come
// to be known late: keys may be seen in another order than they were written.
func (m *Machine) take(batch []*task) {
	for len(batch) > 0 {
		txn := store.Txn{If: []store.Condition{m.isMine(), m.isEra()}}
		p := pending{purpose: toTake}
		over := map[holder]bool{}
		n := 0
		for _, t := range batch {
			conditions := []store.Condition{{Key: ownKey(t.id), Test: store.ChangedAt, Revision: t.ownRev}}
			next := Ownership{Node: m.config.Name, Term: m.term, Era: m.cluster.Era}
			h := t.holder()
			if t.ownRev == 0 {
				conditions = append(conditions, store.Condition{Key: specKey(t.id), Test: store.CreatedAt, Revision: t.specCreated})
				next.IsBound = t.isBound
			} else {
				next.Changes = t.own.Changes + 1
				next.IsBound = t.isBound
				next.IsLost = t.claimed == nil && (t.own.IsLost || t.own.IsBound)
				if !over[h] {
					conditions = append(conditions, store.Condition{Key: nodeKey(h.node), Test: store.NotCreatedAt, Revision: h.term})
				}
			}
			if len(txn.If)+len(conditions) > store.MaxOps {
				break
			}
			over[h] = true
			txn.If = append(txn.If, conditions...)
			txn.Then = append(txn.Then, store.Op{Key: ownKey(t.id), Value: encode(next)})
			if t.claimed != nil {
				txn.Then = append(txn.Then, store.Op{Key: specKey(t.id), Value: t.claimed})
			}
			p.tasks = append(p.tasks, t.id)
			n++
		}
		attempt := m.commit(p, txn)
		for _, t := range batch[:n] {
			t.taking = attempt
		}
		batch = batch[n:]
	}
}

// takeAnswered takes the outcome of a take. A refusal means that something of what was
// seen is old; smaller batches keep one such task from holding up the others.
func (m *Machine) takeAnswered(p pending, a Answered) {
	isDone := !a.IsUnknown && a.Result.IsDone
	for i, id := range p.tasks {
		t := m.tasks[id]
		created := a.Result.Revision
		if t != nil {
			if t.taking == a.Attempt {
				t.taking = 0
			}
			if !isDone {
				m.index(t) // forgets one that was claimed and has no record
			}
			if t.ownRev != 0 {
				created = t.ownCreated
			}
		}
		if isDone {
			m.fold(store.Entry{Key: ownKey(id), Value: p.puts[i].Value, Created: created, Changed: a.Result.Revision}, false, fromAnswer)
		}
	}
	if isDone && len(p.puts) > len(p.tasks) { // a claim, with its spec
		op, created := p.puts[len(p.tasks)], a.Result.Revision
		if t := m.tasks[p.tasks[0]]; t != nil && t.specRev != 0 {
			created = t.specCreated
		}
		m.fold(store.Entry{Key: op.Key, Value: op.Value, Created: created, Changed: a.Result.Revision}, false, fromAnswer)
	}
	switch {
	case isDone:
		m.batch = min(maxBatch, 2*m.batch)
	case !a.IsUnknown:
		m.batch = max(1, m.batch/2)
		m.list()
	}
}
