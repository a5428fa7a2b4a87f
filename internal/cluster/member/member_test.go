package member_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/member"
	"holdfast/internal/cluster/store"
	"holdfast/internal/cluster/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shared is a store for several members, on the clock of the bubble.
type shared struct{ *storetest.Shared }

func newShared() *shared { return &shared{storetest.NewShared()} }

// node is a member whose handler keeps what it is told.
type node struct {
	t      *testing.T
	name   string
	m      *member.Member
	mu     sync.Mutex
	duties map[string]lease.Begin
	told   []string
	ahead  time.Duration // of the wall clock
}

func join(t *testing.T, s *shared, name, instance, predecessor string) *node {
	t.Helper()
	n := &node{t: t, name: name, duties: map[string]lease.Begin{}}
	began := time.Now()
	m, err := member.Join(member.Config{
		Lease: lease.Config{Name: name, Instance: instance, Predecessor: predecessor, Times: lease.DefaultTimes()},
		Store: s.Of(name), Handler: n, Log: slog.New(slog.DiscardHandler),
		Now: func() lease.Reading {
			n.mu.Lock()
			defer n.mu.Unlock()
			passed := time.Since(began)
			return lease.Reading{Boot: time.Hour + passed, Wall: 1_000_000*time.Hour + passed + n.ahead}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	n.m = m
	return n
}

func (n *node) leave() {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := n.m.Leave(ctx); err != nil {
		n.t.Error(err)
	}
}

func (n *node) Begin(b lease.Begin) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.duties[b.Task] = b
	n.told = append(n.told, "begin "+b.Task)
}

func (n *node) Gather(g lease.Gather) {
	n.mu.Lock()
	n.told = append(n.told, "gather "+g.Task)
	n.mu.Unlock()
	n.m.Gathered(g)
}

func (n *node) Resume(r lease.Resume) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.told = append(n.told, "resume "+r.Task)
}

func (*node) Stood(lease.Stood) {}

func (n *node) Cease(c lease.Cease) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.duties, c.Task)
	n.told = append(n.told, fmt.Sprintf("cease %s: %s", c.Task, c.Why))
}

func (n *node) has() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []string
	for task := range n.duties {
		list = append(list, task)
	}
	slices.Sort(list)
	return list
}

func (s *shared) create(t *testing.T, tasks ...string) {
	t.Helper()
	for _, task := range tasks {
		_, err := s.Of("caller").Commit(t.Context(), store.Txn{Then: []store.Op{{Key: "tasks/" + task + "/spec", Value: []byte(`{"place":"` + task + `"}`)}}})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func tasks(n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("t%02d", i))
	}
	return list
}

// all are the tasks of several nodes, each as often as a node has it.
func all(nodes ...*node) []string {
	var list []string
	for _, n := range nodes {
		list = append(list, n.has()...)
	}
	slices.Sort(list)
	return list
}

// TestTasksOfANodeThatIsCutAreTaken: within four seconds, after the cut node has ceased to
// decide, and it learns of it once it is back.
func TestTasksOfANodeThatIsCutAreTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared()
		a, b, c := join(t, s, "a", "a.1", ""), join(t, s, "b", "b.1", ""), join(t, s, "c", "c.1", "")
		time.Sleep(time.Second)
		s.create(t, tasks(30)...)
		time.Sleep(time.Second)
		if got := all(a, b, c); !slices.Equal(got, tasks(30)) || len(a.has()) == 0 || len(b.has()) == 0 {
			t.Fatalf("each task once, on every node some: %v, %v, %v", a.has(), b.has(), c.has())
		}
		node, _, before, ok := b.m.Owner(a.has()[0])
		if !ok || node != "a" {
			t.Errorf("b takes %s for the owner", node)
		}
		task := a.has()[0]

		s.Cut("a", true)
		time.Sleep(2100 * time.Millisecond)
		if a.m.Allows() {
			t.Error("a node that is cut off decides after two seconds")
		}
		if got := all(b, c); len(got) == 30 {
			t.Error("its tasks were taken before the record was old enough")
		}
		time.Sleep(1900 * time.Millisecond)
		if got := all(b, c); !slices.Equal(got, tasks(30)) {
			t.Errorf("after four seconds the others have %v", got)
		}
		if _, _, after, _ := b.m.Owner(task); after <= before {
			t.Errorf("the epoch of %s was %v and is %v", task, before, after)
		}
		if len(a.has()) == 0 {
			t.Error("the cut node has ended its tasks though it cannot know")
		}

		s.Cut("a", false)
		time.Sleep(2 * time.Second)
		if got := a.has(); len(got) != 0 {
			t.Errorf("back, it still has %v", got)
		}
		if !a.m.Allows() {
			t.Errorf("back, it has no lease: %s", a.m.State())
		}
		if st := b.m.Status(); len(st.Nodes) != 3 || st.Phase != lease.Held || st.Era != 1 {
			t.Errorf("the status is %+v", st)
		}
		a.leave()
		b.leave()
		c.leave()
	})
}

// TestADrainedNodeHandsOver: each task has another owner, and the node then leaves.
func TestADrainedNodeHandsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared()
		a, b := join(t, s, "a", "a.1", ""), join(t, s, "b", "b.1", "")
		time.Sleep(time.Second)
		s.create(t, tasks(60)...)
		time.Sleep(time.Second)
		a.m.Drain()
		time.Sleep(time.Second)
		if got := a.has(); len(got) != 0 {
			t.Errorf("the drained node has %v", got)
		}
		if got := b.has(); !slices.Equal(got, tasks(60)) {
			t.Errorf("the other one has %v", got)
		}
		a.leave()
		if _, ok := s.Get("nodes/a"); ok {
			t.Error("the node that left still has a record")
		}
		b.leave()
	})
}

// TestASilentWatchIsBegunAnew: a server that is stopped keeps a watch open and brings
// nothing. The node's own renewals show it.
func TestASilentWatchIsBegunAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared()
		a := join(t, s, "a", "a.1", "")
		time.Sleep(3 * time.Second)
		before := s.Watches()
		s.Mute()
		s.create(t, "t")
		time.Sleep(4 * time.Second)
		after := s.Watches()
		if before != 1 || after < 2 {
			t.Errorf("there were %d watches, and then %d", before, after)
		}
		if got := a.has(); !slices.Equal(got, []string{"t"}) {
			t.Errorf("the listing of the new watch brought %v", got)
		}
		a.leave()
	})
}

// TestAPauseThatOnlyTheWallClockShows ends the permission to decide until the next renewal.
func TestAPauseThatOnlyTheWallClockShows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared()
		a := join(t, s, "a", "a.1", "")
		time.Sleep(time.Second)
		if !a.m.Allows() {
			t.Fatal("there is no lease")
		}
		a.mu.Lock()
		a.ahead = 200 * time.Millisecond
		a.mu.Unlock()
		if a.m.Allows() {
			t.Error("the node decides after a pause")
		}
		time.Sleep(500 * time.Millisecond)
		if !a.m.Allows() {
			t.Error("the next renewal did not bring the lease back")
		}
		a.leave()
	})
}

// TestLeaveDoesNotWaitForALostStore: its context bounds it, and nothing is left running.
func TestLeaveDoesNotWaitForALostStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared()
		a := join(t, s, "a", "a.1", "")
		time.Sleep(time.Second)
		s.create(t, "t")
		time.Sleep(time.Second)
		s.Cut("a", true)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := a.m.Leave(ctx); err == nil {
			t.Error("the end of the term was not written, and there is no error")
		}
		if a.m.Allows() || len(a.has()) != 0 {
			t.Errorf("after its end the node has %v", a.has())
		}
	})
}

func TestJoinRefusesBadConfigurations(t *testing.T) {
	t.Parallel()
	for _, c := range []lease.Config{
		{Name: "A", Instance: "i", Times: lease.DefaultTimes()},
		{Name: "a", Times: lease.DefaultTimes()},
		{Name: "a", Instance: "i"},
	} {
		if _, err := member.Join(member.Config{Lease: c}); err == nil {
			t.Errorf("%+v joins", c)
		}
	}
}
