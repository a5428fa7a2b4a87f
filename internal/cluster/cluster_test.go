package cluster_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/cluster"
	"holdfast/internal/cluster/store/storetest"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running are the tasks of a node that is none.
type running struct {
	mu      sync.Mutex
	ids     []messages.TaskID
	yielded []messages.TaskID
}

func (r *running) Running() []messages.TaskID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ids)
}

func (r *running) Yield(id messages.TaskID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.yielded = append(r.yielded, id)
	r.ids = slices.DeleteFunc(r.ids, func(x messages.TaskID) bool { return x == id })
}

func (*running) Lease(bool) {}

func (*running) TaskLease(messages.TaskID, bool) {}

func (r *running) set(ids ...messages.TaskID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids = ids
}

// notes keeps nothing.
type notes struct{}

func (notes) SetEra(uint32) error    { return nil }
func (notes) SetCordoned(bool) error { return nil }

func join(t *testing.T, s *storetest.Shared, node string) *cluster.Cluster {
	t.Helper()
	return joinWith(t, s, node, &running{})
}

func joinWith(t *testing.T, s *storetest.Shared, node string, tasks *running) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Join(cluster.Config{
		Name: "test", Node: node, Instance: node + "1", Store: s.Of(node), Version: "v1", Notes: notes{},
		Voters:    map[string]string{"a": "127.0.0.1:1", "b": "127.0.0.1:1", "x": "127.0.0.1:1"},
		Addresses: messages.ClusterAddresses{HTTP: "http://" + node, Peer: node + ":1"},
		Tasks:     tasks,
		Load:      func() cluster.Load { return cluster.Load{Tasks: 1, Anchors: 2, Places: 3} }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func leave(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := c.Leave(ctx); err != nil {
		t.Error(err)
	}
}

func states(c *cluster.Cluster) map[string]messages.LeaseState {
	out := map[string]messages.LeaseState{}
	for _, n := range c.View().Nodes {
		out[n.Node] = n.State
	}
	return out
}

func eventually(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !isSo(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not in time: " + what)
		}
	}
}

func TestNodesSeeEachOther(t *testing.T) {
	t.Parallel()
	s := storetest.NewShared()
	a, b := join(t, s, "a"), join(t, s, "b")
	c := join(t, s, "c")
	var v messages.Cluster
	eventually(t, "all hold their leases", func() bool {
		m := states(a)
		v = a.View()
		return m["a"] == messages.LeaseHeld && m["b"] == messages.LeaseHeld && m["c"] == messages.LeaseHeld && m["x"] == messages.LeaseGone && a.Check().OK && v.HasQuorum
	})
	if v.Name != "test" || v.Era != 1 || len(v.Nodes) != 4 {
		t.Errorf("%+v", v)
	}
	n := v.Nodes[1]
	if n.Node != "b" || !n.IsVoter || n.Term == 0 || n.Tasks != 1 || n.Anchors != 2 || n.Places != 3 || n.Version != "v1" || n.Addresses.Peer != "b:1" || n.Addresses.HTTP != "http://b" {
		t.Errorf("%+v", n)
	}
	if v.Nodes[2].IsVoter {
		t.Error("c is no voter")
	}
	leave(t, c)
	eventually(t, "c is gone", func() bool { return states(a)["c"] == "" })
	leave(t, b)
	eventually(t, "b is gone", func() bool { return states(a)["b"] == messages.LeaseGone })
	leave(t, a)
}

func TestANodeWithoutItsStoreIsNotReady(t *testing.T) {
	t.Parallel()
	s := storetest.NewShared()
	a, b := join(t, s, "a"), join(t, s, "b")
	defer leave(t, b)
	eventually(t, "both hold their leases", func() bool { return a.Check().OK && states(b)["a"] == messages.LeaseHeld })
	before := a.Figures()
	s.Cut("a", true)
	eventually(t, "a has lapsed, and b sees it", func() bool {
		check := a.Check()
		return !check.OK && check.Reason == "the cluster's store does not answer" && states(a)["a"] == messages.LeaseLapsed && !a.View().HasQuorum && states(b)["a"] != messages.LeaseHeld
	})
	if f := a.Figures(); f.IsHeld || f.HasQuorum || f.Lapses <= before.Lapses || f.Failures == 0 || f.Nodes[messages.LeaseLapsed] == 0 {
		t.Errorf("%+v", f)
	}
	eventually(t, "b has given a up", func() bool { return states(b)["a"] == messages.LeaseGone })
	s.Cut("a", false)
	eventually(t, "a has joined anew", func() bool { return a.Check().OK && states(b)["a"] == messages.LeaseHeld })
	eventually(t, "a has renewed its second term", func() bool {
		f := a.Figures()
		return f.Terms > before.Terms && f.IsHeld && f.Margin > 0
	})
	leave(t, a)
}

func TestJoinRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []cluster.Config{{}, {
		Name: "test", Node: "A", Instance: "1", Store: storetest.NewShared().Of("a"), Load: func() cluster.Load { return cluster.Load{} }, Tasks: &running{}, Log: slog.Default(),
	}} {
		if _, err := cluster.Join(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

func TestATaskHasOneNode(t *testing.T) {
	t.Parallel()
	s := storetest.NewShared()
	tasks := &running{}
	a, b := joinWith(t, s, "a", tasks), join(t, s, "b")
	defer leave(t, b)
	defer leave(t, a)
	eventually(t, "both hold their leases", func() bool { return a.Check().OK && b.Check().OK })
	claim := func(c *cluster.Cluster) (func(), error) { return c.Claim(t.Context(), "one") }

	var release func()
	eventually(t, "a has the task", func() (ok bool) {
		var err error
		release, err = claim(a)
		return err == nil
	})
	tasks.set("one")
	release()
	place := func(c *cluster.Cluster) string { node, _, _ := c.Place("one"); return node }
	eventually(t, "b knows it", func() bool { return place(b) == "a" })
	eventually(t, "b is refused", func() bool {
		_, err := claim(b)
		return messages.CodeOf(err) == messages.CodeRehoming
	})
	_, first, _ := b.Place("one")

	// A task that has ended is free, and its next epoch is a higher one.
	tasks.set()
	eventually(t, "the record is gone", func() bool { return place(b) == "" })
	eventually(t, "b has the task", func() bool {
		release, err := claim(b)
		if err == nil {
			release()
		}
		return err == nil
	})
	if _, next, _ := b.Place("one"); next <= first && next != 0 {
		t.Errorf("the epoch was %d and is %d", first, next)
	}
}

func TestATaskThatAnotherNodeHasEnds(t *testing.T) {
	t.Parallel()
	s := storetest.NewShared()
	tasks, others := &running{}, &running{}
	a, b := joinWith(t, s, "a", tasks), joinWith(t, s, "b", others)
	defer leave(t, b)
	defer leave(t, a)
	eventually(t, "both hold their leases", func() bool { return a.Check().OK && b.Check().OK })
	tasks.set("one")
	place := func(c *cluster.Cluster) string { node, _, _ := c.Place("one"); return node }
	eventually(t, "what runs on a is a's", func() bool { return place(b) == "a" })
	s.Cut("a", true)
	eventually(t, "a is cut off, and the task is free", func() bool { return place(b) == "" })
	others.set("one")
	eventually(t, "b has it", func() bool { return place(b) == "b" })
	if _, err := a.Claim(t.Context(), "one"); messages.CodeOf(err) != messages.CodeNoQuorum && messages.CodeOf(err) != messages.CodeLeaseLapsed {
		t.Errorf("a claims it without a lease: %v", err)
	}
	s.Cut("a", false)
	eventually(t, "a has ended it", func() bool {
		tasks.mu.Lock()
		defer tasks.mu.Unlock()
		return len(tasks.yielded) > 0
	})
	if got := others.Running(); len(got) != 1 {
		t.Error("b has lost it:", got)
	}
}
