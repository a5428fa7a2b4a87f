package voter_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"holdfast/internal/cluster/clock"
	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/member"
	"holdfast/internal/cluster/store"
	"holdfast/internal/cluster/store/etcd"
	"holdfast/internal/cluster/store/voter"
)

// TestMembersOnVoters: three nodes with a voter each; one ends without a word, and the
// others have its tasks within four seconds, though it led the voters.
func TestMembersOnVoters(t *testing.T) {
	t.Parallel()
	voters := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		voters[name] = newHost() + ":7071"
	}
	running := map[string]*voter.Voter{}
	for name := range voters {
		running[name] = start(t, voter.Config{Name: name, Cluster: "c", Dir: t.TempDir(), Voters: voters})
	}
	ready(t, running["a"], running["b"], running["c"])
	handlers := map[string]*handler{}
	stores := map[string]*etcd.Store{}
	for name := range voters {
		s, err := etcd.Open(etcd.Config{Cluster: "c", Endpoints: endpoints(t, voters, false)})
		if err != nil {
			t.Fatal(err)
		}
		h := &handler{tasks: map[string]bool{}}
		m, err := member.Join(member.Config{
			Lease: lease.Config{Name: name, Instance: name + ".1", Times: lease.DefaultTimes()},
			Store: s, Now: clock.Now, Handler: h, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		h.m = m
		handlers[name], stores[name] = h, s
	}
	defer func() {
		for name, h := range handlers {
			if h.m != nil {
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				_ = h.m.Leave(ctx)
				cancel()
			}
			_ = stores[name].Close()
		}
	}()
	const tasks = 500
	held := func(names ...string) int {
		n := 0
		for _, name := range names {
			n += handlers[name].count()
		}
		return n
	}
	until := func(what string, is func() bool) time.Duration {
		t.Helper()
		began := time.Now()
		for !is() {
			if time.Since(began) > patience {
				t.Fatalf("%s: %s", what, handlers["b"].m.State())
			}
			time.Sleep(5 * time.Millisecond)
		}
		return time.Since(began)
	}
	until("all nodes have a lease", func() bool {
		return handlers["a"].m.Allows() && handlers["b"].m.Allows() && handlers["c"].m.Allows()
	})
	for first := 0; first < tasks; first += 100 {
		var txn store.Txn
		for i := range 100 {
			id := fmt.Sprintf("t%d", first+i)
			txn.Then = append(txn.Then, store.Op{Key: "tasks/" + id + "/spec", Value: []byte(`{"place":"` + id + `"}`)})
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err := stores["a"].Commit(ctx, txn)
		cancel()
		if err != nil {
			t.Fatal(err)
		}
	}
	until("all tasks have an owner", func() bool { return held("a", "b", "c") == tasks })
	leader := ""
	for name, v := range running {
		if v.IsLeader() {
			leader = name
		}
	}
	var others []string
	for name := range voters {
		if name != leader {
			others = append(others, name)
		}
	}
	before := held(leader)
	if before == 0 {
		t.Fatal("the leader has no task")
	}
	// Its store goes first, so that it can say nothing.
	began := time.Now()
	_ = stores[leader].Close()
	go running[leader].Close() // it waits for its clients' streams; the cleanup waits for it
	until("the lease of the node that ended", func() bool { return !handlers[leader].m.Allows() })
	lapsed := time.Since(began)
	until("all tasks have another owner", func() bool { return held(others...) == tasks })
	t.Logf("figure: %d of %d tasks, the leader's: lapsed after %v, re-owned after %v", before, tasks, lapsed.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
}

// handler keeps which tasks its node has.
type handler struct {
	m     *member.Member
	mu    sync.Mutex
	tasks map[string]bool
}

func (h *handler) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.tasks)
}

func (h *handler) Begin(b lease.Begin) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tasks[b.Task] = true
}

func (*handler) Stood(lease.Stood) {}

func (h *handler) Cease(c lease.Cease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.tasks, c.Task)
}

func (h *handler) Gather(lease.Gather) {}
func (h *handler) Resume(lease.Resume) {}
