package cluster_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/cluster"
	"holdfast/internal/cluster/store/storetest"
	"holdfast/messages"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func join(t *testing.T, s *storetest.Shared, node string) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Join(cluster.Config{
		Name: "test", Node: node, Instance: node + "1", Store: s.Of(node), Voters: []string{"a", "b", "x"}, Version: "v1",
		Addresses: messages.ClusterAddresses{HTTP: "http://" + node, Peer: node + ":1"},
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
		Name: "test", Node: "A", Instance: "1", Store: storetest.NewShared().Of("a"), Load: func() cluster.Load { return cluster.Load{} }, Log: slog.Default(),
	}} {
		if _, err := cluster.Join(c); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}
