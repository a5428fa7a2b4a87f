package lease

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"holdfast/internal/cluster/placement"
	"holdfast/internal/cluster/store"
)

// Config is what a Machine knows of its node.
type Config struct {
	Name string
	// Instance names this run of the process; no two runs have the same.
	Instance string
	// Predecessor is the Instance of the last run on the same state directory, whose lock
	// proves that it is dead. Its record is deleted without a wait. It may be empty.
	Predecessor string
	// Era is the highest one that the node has met; 0 where it has met none. A store of an
	// older era is a copy, or one that a recovery has left behind.
	Era uint32
	// IsCordoned says that the node takes no tasks, and keeps those it has.
	IsCordoned bool
	Info       json.RawMessage
	Times      Times
}

// Validate returns an error for a configuration that no node can have.
func (c Config) Validate() error {
	if err := ValidName(c.Name); err != nil {
		return err
	}
	if !isText(c.Instance, maxName) {
		return errors.New("a node's instance has 1 to 64 printable characters")
	}
	if len(c.Info) > maxInfo {
		return fmt.Errorf("a node's info has at most %d bytes", maxInfo)
	}
	return c.Times.Validate()
}

// Machine is one node's half of the leases and of the ownership of tasks. It is not safe
// for concurrent use.
type Machine struct {
	config  Config
	now     Reading
	effects []Effect

	phase       Phase
	hasDrain    bool
	cluster     ClusterRecord
	clusterRev  int64 // of its last change; 0: not known
	term        int64 // 0: none
	grant       Grant
	renewed     time.Duration // begin of the last renewal that was carried out
	back        time.Duration // when renewals came back from a gap
	due         time.Duration // the next attempt to find, join or renew
	inFlight    uint64        // that attempt
	isTermSpent bool          // the term has been given up: do not adopt it again

	nodes     map[string]*node
	tasks     map[string]*task
	holders   map[holder]map[string]bool // tasks by whom their records name
	busy      map[string]bool            // tasks of this node that are to be handed over or ended
	horizon   int64                      // no creation below it counts for a key that is not known
	newEra    uint32                     // that a change has shown, and no listing yet
	hasList   bool
	isListing bool // a List is under way

	attempts uint64
	fences   uint64 // that the store has carried out
	pending  map[uint64]pending
	batch    int // how many tasks a transaction takes
}

// holder is a node in one of its terms; the zero holder has the tasks without an owner.
type holder struct {
	node string
	term int64
}

// node is what is known of a node's record.
type node struct {
	record  NodeRecord
	created int64
	changed int64
	seen    time.Duration // when the last change was seen
	fencing uint64        // the attempt under way
}

// pending is a transaction without an answer.
type pending struct {
	purpose purpose
	begun   Reading
	term    int64
	node    string
	puts    []store.Op // what it puts
	tasks   []string
}

type purpose uint8

const (
	toFound purpose = iota
	toJoin
	toRenew
	toClear // the record of a dead predecessor
	toFence
	toTake
	toHandOver
	toConfirm
	toEnd
	toLeave
)

// New returns the machine of a node that has not joined yet. The configuration has to be
// valid.
func New(c Config) *Machine {
	return &Machine{
		config: c, phase: Outside, cluster: ClusterRecord{Era: c.Era}, nodes: map[string]*node{}, tasks: map[string]*task{},
		holders: map[holder]map[string]bool{}, busy: map[string]bool{}, pending: map[uint64]pending{}, batch: maxBatch,
	}
}

// Step takes an input in, at a reading of the node's clocks, and returns what is to be
// done, in order. Readings of Boot never go back.
func (m *Machine) Step(now Reading, in Input) []Effect {
	m.now, m.effects = now, nil
	switch in := in.(type) {
	case Woke:
	case Answered:
		m.answered(in)
	case Changed:
		m.fold(in.Event.Entry, in.Event.IsDelete, fromWatch)
	case Listed:
		m.listed(in.Listing)
	case ListFailed:
		m.isListing = false
	case HandOver:
		m.gather(in.Task, in.Heir)
	case Gathered:
		m.gathered(in)
	case Kept:
		m.kept(in)
	case Claim:
		m.claim(in.Task, in.Spec)
	case End:
		m.end(in.Task)
	case Drain:
		if !m.hasDrain {
			m.hasDrain, m.due = true, now.Boot
		}
	case Cordon:
		if m.config.IsCordoned != in.IsCordoned {
			m.config.IsCordoned, m.due = in.IsCordoned, min(m.due, now.Boot)
		}
	case Leave:
		m.leave()
	case Described:
		if len(in.Info) <= maxInfo {
			m.config.Info = in.Info
		}
	case MetEra:
		if in.Era > m.cluster.Era && m.clusterRev == 0 {
			m.cluster.Era = in.Era
		}
		if in.Era > m.cluster.Era {
			m.stop(fmt.Sprintf("another node is of era %d, this one of era %d", in.Era, m.cluster.Era))
		}
	default:
		panic(fmt.Sprintf("lease: unknown input %T", in))
	}
	m.proceed()
	return m.effects
}

// proceed does what is due, whatever the last input was: an input is only a hint.
func (m *Machine) proceed() {
	if m.phase == Stopped {
		return
	}
	if !m.hasList {
		m.list()
		return
	}
	m.keepTerm()
	if m.phase != Held {
		return
	}
	m.judge()
	m.takeFree()
	m.tend()
}

// Era returns the highest era that the node has met, 0 where it has met none.
func (m *Machine) Era() uint32 { return m.cluster.Era }

// Grant returns the permission to decide that the node has now.
func (m *Machine) Grant() Grant { return m.grant }

// Decides says whether the node may decide for a task at an instant, and under which epoch.
func (m *Machine) Decides(task string, now Reading) (Epoch, bool) {
	t := m.tasks[task]
	if t == nil || t.duty == nil {
		return 0, false
	}
	d := t.duty
	return d.epoch, d.step == deciding && now.Boot >= d.notBefore && m.grant.Allows(now)
}

// Living returns the node that has a task in a term that stands, the epoch, and whether that
// is this node.
func (m *Machine) Living(task string) (node string, epoch Epoch, isMine, ok bool) {
	t := m.tasks[task]
	if t == nil || t.ownRev == 0 || m.isOver(t.holder()) {
		return "", 0, false, false
	}
	return t.own.Node, t.epoch(), t.own.Node == m.config.Name && t.own.Term == m.term, true
}

// IsOrphan says whether a task has a record, and its owner's term is over.
func (m *Machine) IsOrphan(task string) bool {
	t := m.tasks[task]
	return t != nil && t.ownRev != 0 && m.isOver(t.holder())
}

// IsAwaited says whether a task has no owner and is to get one without a caller's doing.
func (m *Machine) IsAwaited(task string) bool {
	t := m.tasks[task]
	return t != nil && t.ownRev != 0 && t.own.Node != "" && t.place != "" && m.isOver(t.holder())
}

// Duties are the tasks that this node has, and Orphans at most limit of those without a living
// term that no node takes by itself. Both are sorted.
func (m *Machine) Duties() []string { return sortedKeys(m.holders[holder{m.config.Name, m.term}]) }

// Movable are the tasks of this node whose browsers are not bound to it: all, or only those for
// which another node ranks first. It says whether there is a node that could take them.
func (m *Machine) Movable(isMisplaced bool) (tasks []string, hasHeir bool) {
	names := candidates(m.nodes)
	return slices.DeleteFunc(m.Duties(), func(id string) bool {
		t := m.tasks[id]
		return t.own.IsBound || t.place == "" || isMisplaced && placement.First(t.place, names) == m.config.Name
	}), len(m.others()) > 0
}

// Orphans is described at [Machine.Duties].
func (m *Machine) Orphans(limit int) []string {
	var list []string
	for _, id := range sortedKeys(m.tasks) {
		if t := m.tasks[id]; len(list) < limit && t.ownRev != 0 && t.own.Node != "" && t.place == "" && m.isOver(t.holder()) {
			list = append(list, id)
		}
	}
	return list
}

// Stake returns the conditions under which this node is the owner of a task, for what others
// write about it.
func (m *Machine) Stake(task string) ([]store.Condition, bool) {
	t := m.tasks[task]
	if t == nil || t.duty == nil || t.duty.step > gathering {
		return nil, false
	}
	return []store.Condition{m.isMine(), {Key: ownKey(task), Test: store.ChangedAt, Revision: t.ownRev}}, true
}

// Owner returns the node that a task's record names, in which term, and the epoch.
func (m *Machine) Owner(task string) (node string, term int64, epoch Epoch, ok bool) {
	t := m.tasks[task]
	if t == nil || t.ownRev == 0 {
		return "", 0, 0, false
	}
	return t.own.Node, t.own.Term, t.epoch(), true
}

func (m *Machine) do(e Effect) { m.effects = append(m.effects, e) }

// commit sends a transaction out.
func (m *Machine) commit(p pending, txn store.Txn) uint64 {
	m.attempts++
	p.begun, p.term, p.puts = m.now, m.term, txn.Then
	m.pending[m.attempts] = p
	m.do(Commit{Attempt: m.attempts, Txn: txn})
	return m.attempts
}

func (m *Machine) list() {
	if !m.isListing {
		m.isListing = true
		m.do(List{})
	}
}

// answered carries the outcome of a transaction to what it was for.
func (m *Machine) answered(a Answered) {
	p, ok := m.pending[a.Attempt]
	if !ok {
		return
	}
	delete(m.pending, a.Attempt)
	if m.inFlight == a.Attempt {
		m.inFlight = 0
	}
	switch p.purpose {
	case toFound, toJoin, toRenew, toClear:
		m.termAnswered(p, a)
	case toFence:
		m.fenceAnswered(p, a)
	case toTake:
		m.takeAnswered(p, a)
	case toHandOver, toConfirm, toEnd:
		m.dutyAnswered(p, a)
	case toLeave:
	}
}

// isMine is the condition that the term stands, which every write of a node has.
func (m *Machine) isMine() store.Condition {
	return store.Condition{Key: nodeKey(m.config.Name), Test: store.CreatedAt, Revision: m.term}
}

// isEra is the condition that the cluster's record, and with it the era, is as it was seen.
func (m *Machine) isEra() store.Condition {
	return store.Condition{Key: clusterKey, Test: store.ChangedAt, Revision: m.clusterRev}
}
