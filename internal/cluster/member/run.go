package member

import (
	"context"
	"fmt"
	"sync"
	"time"

	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/store"
)

// run is the goroutine of the machine.
func (m *Member) run(ctx context.Context) {
	defer m.grant.Store(&lease.Grant{})
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case in := <-m.inputs:
			m.step(ctx, in)
		case <-m.orders.wake:
			for _, in := range m.orders.take() {
				m.step(ctx, in)
			}
		case <-ticker.C:
			m.step(ctx, lease.Woke{})
			m.checkWatch()
		}
	}
}

func (m *Member) step(ctx context.Context, in lease.Input) {
	m.mu.Lock()
	effects := m.machine.Step(m.config.Now(), in)
	grant := m.machine.Grant()
	close(m.changed)
	m.changed = make(chan struct{})
	m.mu.Unlock()
	if old := m.grant.Load(); grant.Deadline != old.Deadline && grant.Term == old.Term && grant.Term != 0 {
		m.margin.Store(int64(max(0, old.Deadline-m.config.Now().Boot)))
	}
	// Before the effects: a handler that begins a task finds the permission.
	m.grant.Store(&grant)
	_, isLeave := in.(lease.Leave)
	hasLast := false
	for _, e := range effects {
		if last, ok := e.(lease.Commit); ok && isLeave {
			hasLast = true
			m.all.Go(func() { m.endLeave(m.commit(ctx, last)) })
			continue
		}
		m.carryOut(ctx, e)
	}
	if isLeave && !hasLast {
		m.endLeave(nil)
	}
}

// endLeave has Leave return.
func (m *Member) endLeave(err error) {
	select {
	case m.left <- err:
	default: // it has been called twice
	}
}

func (m *Member) carryOut(ctx context.Context, e lease.Effect) {
	switch e := e.(type) {
	case lease.Commit:
		m.all.Go(func() { _ = m.commit(ctx, e) }) // the machine hears of the error
	case lease.List:
		m.all.Go(func() { m.list(ctx) })
	case lease.Begin:
		m.config.Handler.Begin(e)
	case lease.Gather:
		m.config.Handler.Gather(e)
	case lease.Resume:
		m.config.Handler.Resume(e)
	case lease.Cease:
		m.config.Handler.Cease(e)
	case lease.Stood:
		m.stood(e)
		m.config.Handler.Stood(e)
	case lease.Alarm:
		m.config.Log.Warn("a record of the cluster's store breaks the rules and is not used", "record", e.Key, "reason", e.Problem)
	default:
		panic(fmt.Sprintf("member: unknown effect %T", e))
	}
}

// stood logs a change of the lease's state.
func (m *Member) stood(e lease.Stood) {
	name := m.config.Lease.Name
	switch e.Phase {
	case lease.Held:
		if m.lastTerm != e.Term {
			m.lastTerm = e.Term
			m.terms.Add(1)
		}
		m.config.Log.Info("the node has a lease and decides for its tasks", "node", name, "term", e.Term)
	case lease.Lapsed:
		m.lapses.Add(1)
		m.config.Log.Warn("the node's lease has lapsed: links stay, nothing is decided", "node", name, "term", e.Term, "reason", e.Why)
	case lease.Outside:
		m.config.Log.Warn("the node's term is over; it joins anew", "node", name, "reason", e.Why)
	case lease.Stopped:
		m.config.Log.Warn("the node is no part of the cluster any more", "node", name, "reason", e.Why)
	}
}

// commit carries a transaction to the store, and its outcome to the machine.
func (m *Member) commit(ctx context.Context, c lease.Commit) error {
	attempt, cancel := context.WithTimeout(ctx, m.config.Lease.Times.Attempt)
	defer cancel()
	begin := m.config.Now().Boot
	r, err := m.config.Store.Commit(attempt, c.Txn)
	m.writes.Add(1)
	if err != nil {
		m.failures.Add(1)
	} else {
		now := m.config.Now().Boot
		m.answered.Store(int64(now))
		m.latency.add(now - begin)
	}
	m.tell(ctx, lease.Answered{Attempt: c.Attempt, Result: r, IsUnknown: err != nil})
	if err != nil {
		return fmt.Errorf("cluster: the outcome of the last write is not known: %w", err)
	}
	return nil
}

func (m *Member) list(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	l, err := m.config.Store.List(bounded)
	if err != nil {
		m.tell(ctx, lease.ListFailed{})
		return
	}
	m.tell(ctx, lease.Listed{Listing: l})
}

// tell gives the machine what the store says, and waits where it is behind.
func (m *Member) tell(ctx context.Context, in lease.Input) {
	select {
	case m.inputs <- in:
	case <-ctx.Done():
	}
}

// watch lists, follows the changes after the listing, and begins anew where that ends.
func (m *Member) watch(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		if err := m.follow(ctx); err != nil && ctx.Err() == nil {
			m.config.Log.Debug("the watch of the cluster's store begins anew", "err", err)
		}
		pause.Reset(rewatch)
	}
}

// follow is one watch, from its listing to its end.
func (m *Member) follow(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, listTimeout)
	l, err := m.config.Store.List(bounded)
	cancel()
	if err != nil {
		return err
	}
	m.watches.Add(1)
	m.tell(ctx, lease.Listed{Listing: l})
	select {
	case <-m.breakWatch: // of the watch before
	default:
	}
	m.heard.Store(int64(m.config.Now().Boot))
	watching, end := context.WithCancel(ctx)
	var broken sync.WaitGroup
	defer broken.Wait()
	broken.Go(func() {
		select {
		case <-m.breakWatch:
			end()
		case <-watching.Done():
		}
	})
	defer end()
	return m.config.Store.Watch(watching, l.Revision, func(events []store.Event) {
		m.heard.Store(int64(m.config.Now().Boot))
		for _, e := range events {
			m.tell(watching, lease.Changed{Event: e})
		}
	})
}

// checkWatch ends a watch that brings nothing although the node's own renewals are carried
// out: each of them is a change.
func (m *Member) checkWatch() {
	now := m.config.Now()
	g := m.Grant()
	isRenewed := g.Allows(now) && g.Deadline-now.Boot > m.config.Lease.Times.Own/2
	if isRenewed && now.Boot-time.Duration(m.heard.Load()) > silence {
		m.heard.Store(int64(now.Boot))
		select {
		case m.breakWatch <- struct{}{}:
		default:
		}
	}
}

// orders is a queue that never waits: the handler adds to it on the goroutine that
// empties it.
type orders struct {
	mu   sync.Mutex
	list []lease.Input
	wake chan struct{}
}

func (o *orders) add(in lease.Input) {
	o.mu.Lock()
	o.list = append(o.list, in)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *orders) take() []lease.Input {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := o.list
	o.list = nil
	return list
}
