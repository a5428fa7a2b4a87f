package lease_test

import (
	"testing"
	"time"

	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/store"
)

// FuzzRecords: what stands in the store was written by others. Whatever it is, the machine
// stands, and makes no one the owner whom the rules do not allow.
func FuzzRecords(f *testing.F) {
	f.Add("nodes/b", []byte(`{"instance":"b.1","draining":true}`), int64(6), int64(7))
	f.Add("tasks/t/own", []byte(`{"node":"a","term":5,"era":1,"changes":3}`), int64(6), int64(7))
	f.Add("tasks/t/spec", []byte(`{"place":"p","bound":true}`), int64(6), int64(7))
	f.Add("cluster", []byte(`{"format":1,"era":1}`), int64(4), int64(9))
	f.Add("nodes/a", []byte(`{"instance":"x"}`), int64(9), int64(9))
	f.Fuzz(func(t *testing.T, key string, value []byte, created, changed int64) {
		m := lease.New(lease.Config{Name: "a", Instance: "a.1", Times: lease.DefaultTimes()})
		now := lease.Reading{Boot: time.Second}
		step := func(in lease.Input) {
			now.Boot += 50 * time.Millisecond
			now.Wall += 50 * time.Millisecond
			m.Step(now, in)
		}
		step(lease.Listed{})
		step(lease.Answered{Attempt: 1, Result: store.Result{IsDone: true, Revision: 4}})
		step(lease.Woke{})
		step(lease.Answered{Attempt: 2, Result: store.Result{IsDone: true, Revision: 5}})
		entry := store.Entry{Key: key, Value: value, Created: created, Changed: changed}
		step(lease.Changed{Event: store.Event{Entry: entry}})
		for range 60 {
			step(lease.Woke{})
		}
		step(lease.Changed{Event: store.Event{Entry: entry, IsDelete: true}})
		step(lease.Listed{Listing: store.Listing{Entries: []store.Entry{entry}, Revision: changed}})
		_ = m.State()
		if g := m.Grant(); g.Term != 0 && g.Term != 5 {
			t.Errorf("the term is %d", g.Term)
		}
	})
}
