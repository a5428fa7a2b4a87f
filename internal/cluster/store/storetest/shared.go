package storetest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"holdfast/internal/cluster/store"
)

// Shared is a Map for several nodes, which reach it over links that take 1 to 4 ms. It is
// safe for concurrent use.
type Shared struct {
	mu      sync.Mutex // protects all below
	m       *Map
	log     []store.Event
	more    chan struct{} // closed at the next event
	cut     map[string]bool
	isMute  bool
	watches int
	rand    *rand.Rand
}

// NewShared returns an empty store that all nodes reach.
func NewShared() *Shared {
	return &Shared{m: NewMap(), more: make(chan struct{}), cut: map[string]bool{}, rand: rand.New(rand.NewPCG(1, 2))}
}

// Of returns the store as one node reaches it.
func (s *Shared) Of(node string) store.Store { return &link{s, node} }

// Cut ends or restores a node's way to the store.
func (s *Shared) Cut(node string, isCut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut[node] = isCut
}

// Mute has watches bring nothing from now on, and stay open.
func (s *Shared) Mute() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isMute = true
}

// Watches counts the watches that were begun.
func (s *Shared) Watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches
}

// Get returns the entry of a key.
func (s *Shared) Get(key string) (store.Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m.Get(key)
}

type link struct {
	s    *Shared
	node string
}

var errCut = errors.New("the node does not reach the store")

// reach waits as long as a message is under way.
func (l *link) reach(ctx context.Context) error {
	l.s.mu.Lock()
	delay := time.Millisecond + time.Duration(l.s.rand.IntN(int(3*time.Millisecond)))
	isCut := l.s.cut[l.node]
	l.s.mu.Unlock()
	if isCut {
		<-ctx.Done()
		return errCut
	}
	select {
	case <-time.After(delay):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Commit implements store.Store.
func (l *link) Commit(ctx context.Context, t store.Txn) (store.Result, error) {
	if err := l.reach(ctx); err != nil {
		return store.Result{}, err
	}
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	r, events := l.s.m.Commit(t)
	if len(events) > 0 {
		l.s.log = append(l.s.log, events...)
		close(l.s.more)
		l.s.more = make(chan struct{})
	}
	return r, nil
}

// List implements store.Store.
func (l *link) List(ctx context.Context) (store.Listing, error) {
	if err := l.reach(ctx); err != nil {
		return store.Listing{}, err
	}
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	return l.s.m.List(), nil
}

// Watch implements store.Store.
func (l *link) Watch(ctx context.Context, after int64, report func([]store.Event)) error {
	l.s.mu.Lock()
	l.s.watches++
	l.s.mu.Unlock()
	for {
		l.s.mu.Lock()
		more, isMute, isCut := l.s.more, l.s.isMute, l.s.cut[l.node]
		var events []store.Event
		for _, e := range l.s.log {
			if e.Changed > after {
				events = append(events, e)
			}
		}
		l.s.mu.Unlock()
		if len(events) > 0 && !isMute && !isCut {
			report(events)
			after = events[len(events)-1].Changed
		}
		select {
		case <-more:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close implements store.Store.
func (l *link) Close() error { return nil }
