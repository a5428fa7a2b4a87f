package member

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/store"
)

const (
	// tick is the pause between two looks of the machine at what is due.
	tick = 50 * time.Millisecond
	// silence is how long the watch may bring nothing, while the node's own renewals are
	// carried out, before it counts as broken: a server that is stopped keeps it open.
	silence = 2 * time.Second
	// listTimeout bounds one listing.
	listTimeout = 2 * time.Second
	// rewatch is the pause before a watch that has ended is begun anew.
	rewatch = 100 * time.Millisecond
	// backlog is how many events and answers wait for the machine; then the watch waits.
	backlog = 1024
)

// Handler hears what the machine decides, on the machine's goroutine. Its methods must not
// wait, and may call the Member.
type Handler interface {
	// Begin has the node supervise a task.
	Begin(lease.Begin)
	// Gather has the task start nothing that decides; Member.Gathered answers it.
	Gather(lease.Gather)
	// Resume takes a Gather back.
	Resume(lease.Resume)
	// Cease ends the supervision of a task on this node.
	Cease(lease.Cease)
	// Stood tells of a change of the node's lease.
	Stood(lease.Stood)
}

// Config is what a Member is made of. Every field is needed.
type Config struct {
	Lease   lease.Config
	Store   store.Store
	Now     func() lease.Reading
	Handler Handler
	Log     *slog.Logger
}

// Member is a node's part in a cluster, from Join to Leave. Its methods are safe for
// concurrent use; none but Leave waits.
type Member struct {
	config Config
	grant  atomic.Pointer[lease.Grant]

	mu      sync.Mutex // protects the machine
	machine *lease.Machine
	changed chan struct{} // closed at the next step

	inputs chan lease.Input // of the store
	orders orders           // of callers and of the handler

	heard      atomic.Int64 // when the watch last brought something, by the clock since boot
	breakWatch chan struct{}
	answered   atomic.Int64 // when the store last answered, by the clock since boot

	lapses, terms, writes, failures atomic.Uint64
	watches                         atomic.Uint64
	latency                         latency
	margin                          atomic.Int64
	lastTerm                        int64 // that was held; of the machine's goroutine

	cancel context.CancelFunc
	all    sync.WaitGroup
	left   chan error // gets one value once the store has answered the end of the term
}

// Join starts a member. It joins in the background, as soon as the store answers.
func Join(c Config) (*Member, error) {
	if err := c.Lease.Validate(); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &Member{
		config: c, machine: lease.New(c.Lease), inputs: make(chan lease.Input, backlog),
		orders: orders{wake: make(chan struct{}, 1)}, breakWatch: make(chan struct{}, 1),
		cancel: cancel, left: make(chan error, 1), changed: make(chan struct{}),
	}
	m.grant.Store(&lease.Grant{})
	m.all.Go(func() { m.run(ctx) })
	m.all.Go(func() { m.watch(ctx) })
	return m, nil
}

// Grant is the permission to decide as it is now. Compare it with the clocks last, before
// what it permits is done.
func (m *Member) Grant() lease.Grant { return *m.grant.Load() }

// Allows says whether the node may decide at this instant.
func (m *Member) Allows() bool { return m.Grant().Allows(m.config.Now()) }

// Status is what the node knows of the cluster.
func (m *Member) Status() lease.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.Status(m.config.Now())
}

// Owner is the node that a task's record names, its term, and the epoch.
func (m *Member) Owner(task string) (node string, term int64, epoch lease.Epoch, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.Owner(task)
}

// Living is the node that has a task in a term that stands. It returns the epoch too, and
// whether that is this node.
func (m *Member) Living(task string) (node string, epoch lease.Epoch, isMine, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.Living(task)
}

// IsOrphan says whether a task has a record, and its owner's term is over.
func (m *Member) IsOrphan(task string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.IsOrphan(task)
}

// IsAwaited says whether a task has no owner and is to get one without a caller's doing.
func (m *Member) IsAwaited(task string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.IsAwaited(task)
}

// Duties are the tasks that this node has, and Orphans at most limit of those that no node has.
func (m *Member) Duties() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.Duties()
}

// Orphans is described at [Member.Duties].
func (m *Member) Orphans(limit int) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.Orphans(limit)
}

// Standbys are the tasks that this node is second for; false where it cannot know.
func (m *Member) Standbys() ([]lease.Standby, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.Standbys()
}

// Claim takes a task that no node has. What became of it shows in Living.
// Spec, where not empty, is put with it.
func (m *Member) Claim(task string, spec []byte) { m.orders.add(lease.Claim{Task: task, Spec: spec}) }

// Stake returns the conditions under which this node is the owner of a task.
func (m *Member) Stake(task string) ([]store.Condition, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.Stake(task)
}

// Changed is closed at the machine's next step: something may have changed.
func (m *Member) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// State prints what the machine knows, for a log.
func (m *Member) State() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.State()
}

// HandOver gives a task of this node to another one, the first in rank where heir is empty.
func (m *Member) HandOver(task, heir string) { m.orders.add(lease.HandOver{Task: task, Heir: heir}) }

// Gathered answers a Gather of the Handler.
func (m *Member) Gathered(g lease.Gather) {
	m.orders.add(lease.Gathered{Task: g.Task, Epoch: g.Epoch})
}

// Kept answers a Gather of the Handler where the task cannot be handed over now.
func (m *Member) Kept(g lease.Gather) { m.orders.add(lease.Kept{Task: g.Task, Epoch: g.Epoch}) }

// Movable are the tasks of this node whose browsers are not bound to it, or only those of them for
// which another node ranks first; and whether there is a node that could take them.
func (m *Member) Movable(isMisplaced bool) (tasks []string, hasHeir bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.Movable(isMisplaced)
}

// End deletes a task of this node.
func (m *Member) End(task string) { m.orders.add(lease.End{Task: task}) }

// Drain has the node take no more tasks, and hand over those it has.
func (m *Member) Drain() { m.orders.add(lease.Drain{}) }

// Describe replaces what the node's record says besides. The next renewal writes it.
func (m *Member) Describe(info json.RawMessage) { m.orders.add(lease.Described{Info: info}) }

// HasQuorum says whether the store has carried out, or refused, something of this node's
// within the length of a lease.
func (m *Member) HasQuorum() bool {
	at := time.Duration(m.answered.Load())
	return at != 0 && m.config.Now().Boot-at <= m.config.Lease.Times.Own
}

// Figures are counts since the member joined.
type Figures struct {
	// Lapses counts the leases that have lapsed, and Terms the terms that have begun.
	Lapses, Terms uint64
	// Writes counts the transactions, and Failures those of them without an answer.
	Writes, Failures uint64
	// Margin is what was left of the lease at the last renewal.
	Margin time.Duration
	// Latency is of the transactions that were answered.
	Latency Latency
	// Watches counts the watches of the store that have begun.
	Watches uint64
	// Silence is how long ago the watch has brought something; 0 before it has.
	Silence time.Duration
}

// Figures returns the counts.
func (m *Member) Figures() Figures {
	f := Figures{
		Lapses: m.lapses.Load(), Terms: m.terms.Load(), Writes: m.writes.Load(), Failures: m.failures.Load(),
		Margin: time.Duration(m.margin.Load()), Latency: m.latency.read(), Watches: m.watches.Load(),
	}
	if heard := time.Duration(m.heard.Load()); heard != 0 {
		f.Silence = max(0, m.config.Now().Boot-heard)
	}
	return f
}

// MetEra is the era that another node has named.
func (m *Member) MetEra(era uint32) { m.orders.add(lease.MetEra{Era: era}) }

// Era returns the highest era that the node has met, 0 where it has met none.
func (m *Member) Era() uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.machine.Era()
}

// Cordon has the node take no more tasks, and keep those it has; or it takes that back.
func (m *Member) Cordon(isCordoned bool) { m.orders.add(lease.Cordon{IsCordoned: isCordoned}) }

// Leave ends the term, so that what the node still has is free for others at once. It
// returns once every goroutine has ended; the context bounds the wait for the store. It is
// called once.
func (m *Member) Leave(ctx context.Context) error {
	m.orders.add(lease.Leave{})
	var err error
	select {
	case err = <-m.left:
	case <-ctx.Done():
		err = fmt.Errorf("cluster: the store has not taken the end of the term: %w", ctx.Err())
	}
	m.cancel()
	m.all.Wait()
	return err
}
