// Package storetest has a store in memory for tests: what a real one has to do, in its
// simplest form.
package storetest

import (
	"fmt"
	"slices"
	"strings"

	"holdfast/internal/cluster/store"
)

// Map is a store without a network. It is not safe for concurrent use.
type Map struct {
	entries  map[string]store.Entry
	revision int64
}

// NewMap returns an empty store.
func NewMap() *Map { return &Map{entries: map[string]store.Entry{}, revision: 1} }

// Commit carries a transaction out, and returns what a watch would report of it.
func (m *Map) Commit(t store.Txn) (store.Result, []store.Event) {
	if len(t.If) > store.MaxOps || len(t.Then) > store.MaxOps || len(t.Read) > store.MaxOps {
		panic(fmt.Sprintf("storetest: %d conditions, %d operations, %d reads", len(t.If), len(t.Then), len(t.Read)))
	}
	for _, c := range t.If {
		if !isMet(c, m.entries[c.Key]) {
			r := store.Result{Revision: m.revision}
			for _, k := range t.Read {
				if e, ok := m.entries[k]; ok {
					r.Found = append(r.Found, e)
				}
			}
			return r, nil
		}
	}
	next := m.revision + 1
	var events []store.Event
	for _, op := range t.Then {
		e, ok := m.entries[op.Key]
		if op.IsDelete {
			if ok {
				delete(m.entries, op.Key)
				events = append(events, store.Event{Entry: store.Entry{Key: op.Key, Changed: next}, IsDelete: true})
			}
			continue
		}
		if !ok {
			e = store.Entry{Key: op.Key, Created: next}
		}
		e.Value, e.Changed = slices.Clone(op.Value), next
		m.entries[op.Key] = e
		events = append(events, store.Event{Entry: e})
	}
	if len(events) > 0 {
		m.revision = next
	}
	return store.Result{IsDone: true, Revision: m.revision}, events
}

// List returns all entries, in the order of their keys.
func (m *Map) List() store.Listing {
	l := store.Listing{Revision: m.revision}
	for _, e := range m.entries {
		l.Entries = append(l.Entries, e)
	}
	slices.SortFunc(l.Entries, func(a, b store.Entry) int { return strings.Compare(a.Key, b.Key) })
	return l
}

// Get returns one entry, and whether there is one.
func (m *Map) Get(key string) (store.Entry, bool) {
	e, ok := m.entries[key]
	return e, ok
}

func isMet(c store.Condition, e store.Entry) bool {
	switch c.Test {
	case store.CreatedAt:
		return e.Created == c.Revision
	case store.NotCreatedAt:
		return e.Created != c.Revision
	case store.ChangedAt:
		return e.Changed == c.Revision
	}
	panic(fmt.Sprintf("storetest: unknown test %d", c.Test))
}
