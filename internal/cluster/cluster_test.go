package cluster_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/cluster"
	"holdfast/internal/cluster/seal"
	"holdfast/internal/cluster/store"
	"holdfast/internal/cluster/store/storetest"
	"holdfast/messages"
	"holdfast/messages/mail"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// running are the tasks of a node that is none.
type running struct {
	mu      sync.Mutex
	ids     []messages.TaskID
	yielded []messages.TaskID

	unready  map[messages.TaskID]string
	memories map[messages.TaskID]mail.TaskMemory
	resumed  []resumption
	lost     []messages.TaskID
	refusal  error // of every task that is to be taken up
}

// resumption is a task that a node has taken up.
type resumption struct {
	id     messages.TaskID
	spec   messages.TaskSpec
	memory mail.TaskMemory
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

func (r *running) Moved(id messages.TaskID, _ string) { r.Yield(id) }

func (r *running) Unready(id messages.TaskID) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unready[id]
}

func (r *running) Has(id messages.TaskID) bool { return slices.Contains(r.Running(), id) }

func (r *running) Memory(id messages.TaskID) (mail.TaskMemory, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m, ok := r.memories[id]
	return m, ok
}

func (r *running) Resume(_ context.Context, id messages.TaskID, spec messages.TaskSpec, resumed mail.Resumed) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refusal != nil {
		return r.refusal
	}
	r.ids = append(r.ids, id)
	r.resumed = append(r.resumed, resumption{id, spec, resumed.Memory})
	return nil
}

func (*running) StandBy(context.Context, messages.TaskID, messages.TaskSpec, mail.StandbyNews) (cluster.Standby, error) {
	return nil, messages.Errorf(messages.CodeLimitReached, "no standby")
}

func (*running) Followed(messages.TaskID, string, func()) (cluster.Follower, bool) { return nil, false }

func (r *running) Lose(_ context.Context, id messages.TaskID, spec messages.TaskSpec, _ uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids = append(r.ids, id)
	r.lost = append(r.lost, id)
	return nil
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
	return joinSealed(t, s, node, tasks, nil)
}

func joinSealed(t *testing.T, s *storetest.Shared, node string, tasks *running, key *seal.Sealer) *cluster.Cluster {
	t.Helper()
	c, err := cluster.Join(cluster.Config{
		Name: "test", Node: node, Instance: node + "1", Store: s.Of(node), Version: "v1", Notes: notes{},
		Voters:    map[string]string{"a": "127.0.0.1:1", "b": "127.0.0.1:1", "x": "127.0.0.1:1"},
		Addresses: messages.ClusterAddresses{HTTP: "http://" + node, Peer: node + ":1"},
		Tasks:     tasks, Seal: key,
		Load: func() cluster.Load { return cluster.Load{Tasks: 1, Anchors: 2, Places: 3} }, Log: slog.New(slog.DiscardHandler),
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
	claim := func(c *cluster.Cluster) (func(), error) { return c.Claim(t.Context(), "one", messages.TaskSpec{}) }

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
	if _, err := a.Claim(t.Context(), "one", messages.TaskSpec{}); messages.CodeOf(err) != messages.CodeNoQuorum && messages.CodeOf(err) != messages.CodeLeaseLapsed {
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

// TestATaskGoesOnAtAnotherNode: with the spec that it was started with and what was known of its
// pages, neither of which stands readable in the store.
func TestATaskGoesOnAtAnotherNode(t *testing.T) {
	t.Parallel()
	key, err := seal.New(seal.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.NewShared()
	tasks, others := &running{}, &running{}
	a, b := joinSealed(t, s, "a", tasks, key), joinSealed(t, s, "b", others, key)
	defer leave(t, b)
	defer leave(t, a)
	eventually(t, "both hold their leases", func() bool { return states(b)["a"] == messages.LeaseHeld && states(a)["b"] == messages.LeaseHeld })
	url, err := messages.ParseCDPURL("wss://user:s3cr3t@browser.test/")
	if err != nil {
		t.Fatal(err)
	}
	start := func(id messages.TaskID, spec messages.TaskSpec) {
		t.Helper()
		release, err := a.Claim(t.Context(), id, spec)
		if err != nil {
			t.Fatal(err)
		}
		tasks.set(append(tasks.Running(), id)...)
		release()
	}
	start("one", messages.TaskSpec{CDPURL: url, DialogPolicy: messages.PolicyAutoAccept, IsRestricted: true})
	start("bound", messages.TaskSpec{Launch: &messages.LaunchSpec{}})
	start("anywhere", messages.TaskSpec{Launch: &messages.LaunchSpec{Restart: messages.RestartAnywhere}})
	a.Specified("one", messages.TaskSpec{CDPURL: url, DialogPolicy: messages.PolicyAutoDismiss, IsRestricted: true})
	tasks.mu.Lock()
	tasks.memories = map[messages.TaskID]mail.TaskMemory{"one": {Version: 7, Pages: []messages.Page{{TargetID: "P", URL: "http://s3cr3t.test/"}}, Recent: []messages.ClosedDialog{{ID: "d-3"}}}}
	tasks.mu.Unlock()
	eventually(t, "what is known of it is in the store, sealed", func() bool {
		l, err := s.Of("x").List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range l.Entries {
			if strings.Contains(string(e.Value), "s3cr3t") {
				t.Fatalf("%s shows a secret: %s", e.Key, e.Value)
			}
		}
		return slices.ContainsFunc(l.Entries, func(e store.Entry) bool { return e.Key == "tasks/one/mem" })
	})
	if err := b.MayDecide("one"); messages.CodeOf(err) != messages.CodeLeaseLapsed {
		t.Errorf("b may decide for it: %v", err)
	}
	s.Cut("a", true)
	waited := make(chan error, 1)
	go func() {
		node, epoch, _ := b.Place("one")
		waited <- b.Await(t.Context(), "one", node, epoch)
	}()
	eventually(t, "b has the tasks", func() bool {
		others.mu.Lock()
		defer others.mu.Unlock()
		return len(others.resumed) == 2 && len(others.lost) == 1
	})
	if err := <-waited; err != nil {
		t.Errorf("a request that waits for the next node: %v", err)
	}
	others.mu.Lock()
	for _, r := range others.resumed {
		switch r.id {
		case "one":
			if r.spec.CDPURL.Reveal() != url.Reveal() || r.spec.DialogPolicy != messages.PolicyAutoDismiss || !r.spec.IsRestricted {
				t.Errorf("the spec is %+v", r.spec)
			}
			if m := r.memory; m.Version != 7 || len(m.Pages) != 1 || m.Pages[0].TargetID != "P" || len(m.Recent) != 1 {
				t.Errorf("the memory is %+v", m)
			}
		case "anywhere":
			if r.spec.Launch == nil || len(r.memory.Pages) != 0 {
				t.Errorf("%+v", r)
			}
		default:
			t.Errorf("%+v was taken up", r)
		}
	}
	if !slices.Equal(others.lost, []messages.TaskID{"bound"}) {
		t.Errorf("lost are %v", others.lost)
	}
	others.mu.Unlock()
	eventually(t, "b decides for it", func() bool { return b.MayDecide("one") == nil })
	if err := a.MayDecide("one"); err == nil {
		t.Error("so does a")
	}
	s.Cut("a", false)
	eventually(t, "a has ended it", func() bool {
		tasks.mu.Lock()
		defer tasks.mu.Unlock()
		return slices.Contains(tasks.yielded, "one")
	})
}

// TestAClaimWhoseCallerHasGoneStartsNothing: the record comes late, and is ended.
func TestAClaimWhoseCallerHasGoneStartsNothing(t *testing.T) {
	t.Parallel()
	key, err := seal.New(seal.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.NewShared()
	tasks := &running{}
	a := joinSealed(t, s, "a", tasks, key)
	defer leave(t, a)
	eventually(t, "it holds its lease", func() bool { return a.Check().OK })
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // one of them is given up before the store has said anything
		if release, err := a.Claim(gone, "one", messages.TaskSpec{}); err == nil {
			release()
			t.Fatal("it has not been given up")
		}
		if _, _, ok := a.Place("one"); ok {
			break
		}
	}
	place := func() bool { _, _, ok := a.Place("one"); return ok }
	eventually(t, "the record is there", place)
	eventually(t, "it is ended", func() bool { return !place() })
	tasks.mu.Lock()
	defer tasks.mu.Unlock()
	if len(tasks.resumed) > 0 {
		t.Errorf("it is started: %+v", tasks.resumed)
	}
}

// TestATaskThatMayNotRunHereIsLost: it is shown so, and not tried for ever.
func TestATaskThatMayNotRunHereIsLost(t *testing.T) {
	t.Parallel()
	key, err := seal.New(seal.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	s := storetest.NewShared()
	tasks, others := &running{}, &running{refusal: messages.Errorf(messages.CodeForbidden, "not here")}
	a, b := joinSealed(t, s, "a", tasks, key), joinSealed(t, s, "b", others, key)
	defer leave(t, b)
	defer leave(t, a)
	eventually(t, "both hold their leases", func() bool { return states(b)["a"] == messages.LeaseHeld && states(a)["b"] == messages.LeaseHeld })
	release, err := a.Claim(t.Context(), "one", messages.TaskSpec{})
	if err != nil {
		t.Fatal(err)
	}
	tasks.set("one")
	release()
	s.Cut("a", true)
	eventually(t, "b shows it as lost", func() bool {
		others.mu.Lock()
		defer others.mu.Unlock()
		return slices.Equal(others.lost, []messages.TaskID{"one"})
	})
	s.Cut("a", false)
}
