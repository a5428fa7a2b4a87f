package acceptance_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// crowd starts n tasks of one browser, each on a page of its own; a few at the same time, since
// a loaded machine starts no 50 pages within one task's budget.
func crowd(r *rig, n int, change ...func(*messages.TaskSpec)) []*task {
	r.Helper()
	tasks := make([]*task, n)
	var starting sync.WaitGroup
	places := make(chan struct{}, 4)
	for i := range tasks {
		places <- struct{}{}
		starting.Go(func() {
			defer func() { <-places }()
			spec := r.spec()
			for _, c := range change {
				c(&spec)
			}
			k := &task{r, messages.TaskID(fmt.Sprintf("crowd-%d", i))}
			if _, _, err := r.node.GetOrStart(r.ctx, k.id, spec); err != nil {
				r.Errorf("start task %s: %v", k.id, err)
				return
			}
			tasks[i] = k
		})
	}
	starting.Wait()
	if slices.Contains(tasks, nil) {
		r.FailNow()
	}
	return tasks
}

func areBack(s *messages.Snapshot) bool {
	return s.State == messages.StateActive && s.Connection.Anchor == messages.LinkUp
}

// Tasks of one browser share two connections (C57), whatever is broken of them.
func TestC57_ManyTasksOfABrowserShareTwoConnections(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Launch(t))
	const n = 50
	began := time.Now()
	// 50 browser contexts would be as many processes; what is shared is not theirs.
	tasks := crowd(r, n, r.through(p), func(s *messages.TaskSpec) { s.Isolation = messages.IsolationShared })
	for _, k := range tasks {
		k.awaitFor(time.Minute, "both links", areBack)
	}
	t.Logf("%d tasks start in %v over %d connections", n, time.Since(began).Round(time.Millisecond), p.Dials())
	// The first task's two links came before anything was proved of the browser.
	if got := p.Open(); got > 4 {
		t.Errorf("%d connections are open with %d tasks", got, n)
	}
	pages := make([]messages.TargetID, n)
	for i, k := range tasks {
		pages[i] = k.snapshot().PageTargetID
		if got := k.eval("", fmt.Sprintf("window.mine = %d", i)); got != fmt.Sprint(i) {
			t.Errorf("task %s sets %s", k.id, got)
		}
	}
	for round, kill := range []func() int{
		p.KillAll,
		func() int { // one of them
			p.Kill(p.Connections()[0])
			return 1
		},
	} {
		p.Forget()
		dials, began := p.Dials(), time.Now()
		before := map[messages.TaskID]uint64{}
		for _, k := range tasks {
			before[k.id] = k.snapshot().Connection.Reconnects
		}
		killed := kill()
		for _, k := range tasks {
			k.awaitFor(time.Minute, "both links again", func(s *messages.Snapshot) bool {
				return areBack(s) && (round == 1 || s.Connection.Reconnects > before[k.id])
			})
		}
		until(t, "two connections again", func() bool { return p.Dials() >= dials+min(killed, 2) && p.Open() == 2 })
		for _, k := range tasks {
			k.awaitFor(time.Minute, "both links again", areBack)
		}
		attached := 0
		for _, m := range p.Messages() {
			if !m.IsFromClient && bytes.HasPrefix(m.Payload, []byte(`{"method":"Target.attachedToTarget"`)) && bytes.Contains(m.Payload, []byte(`"type":"page"`)) {
				attached++
			}
		}
		t.Logf("round %d: %d connections killed, %d dials, %d attaches, all are back in %v", round, killed, p.Dials()-dials, attached, time.Since(began).Round(time.Millisecond))
		// Each connection is attached once to each page, the one that belongs to no task
		// included, and once more for a task that is back after five seconds.
		if want := min(killed, 2) * 2 * (n + 1); attached > want {
			t.Errorf("%d attaches after a kill, want at most %d: links attach to pages of other tasks", attached, want)
		}
	}
	for i, k := range tasks {
		if s := k.snapshot(); s.PageTargetID != pages[i] || len(s.Pages) != 1 {
			t.Errorf("task %s has %d pages, and %s for %s", k.id, len(s.Pages), s.PageTargetID, pages[i])
		}
		if got := k.eval("", "window.mine"); got != fmt.Sprint(i) {
			t.Errorf("task %s reads %s of its page", k.id, got)
		}
	}
	for _, k := range tasks {
		if err := r.node.StopTask(r.ctx, k.id); err != nil {
			t.Errorf("stop task %s: %v", k.id, err)
		}
	}
	until(t, "no connection without a task", func() bool { return p.Open() == 0 })
}

// A task that floods, or asks for a large result, holds its neighbours up for one message
// at most.
func TestC57_ATaskThatFloodsDoesNotHoldUpItsNeighbors(t *testing.T) {
	t.Parallel()
	r, p := proxied(t, chromiumtest.Launch(t))
	first, loud, quiet := r.task("first", r.through(p)), r.task("loud", r.through(p)), r.task("quiet", r.through(p))
	for _, k := range []*task{first, loud, quiet} {
		k.await("both links", areBack)
	}
	if got := p.Open(); got > 4 {
		t.Fatalf("%d connections are open: the tasks share none", got)
	}
	// On a loaded machine 20 MB take longer than a call has by default, and the page is
	// silent for as long.
	patient := func(k *task, expression string) (string, error) {
		return evalOn(k.ctx, k.node, k.id, messages.CDPRequest{TimeoutS: 60}, expression)
	}
	// worst is how long a neighbour's call takes at most while work is done.
	worst := func(work func()) (longest time.Duration, calls int) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			work()
		}()
		pace := time.NewTicker(5 * time.Millisecond)
		defer pace.Stop()
		for {
			<-pace.C
			began := time.Now()
			if _, err := patient(quiet, "1"); err != nil {
				t.Errorf("a neighbour's call: %v", err)
			}
			calls++
			longest = max(longest, time.Since(began))
			select {
			case <-done:
				return longest, calls
			default:
			}
		}
	}
	var large time.Duration
	took, calls := worst(func() {
		began := time.Now()
		if got, err := patient(loud, "'x'.repeat(20e6)"); err != nil || len(got) != 20e6+2 {
			t.Errorf("a large result: %d bytes, %v", len(got), err)
		}
		large = time.Since(began)
	})
	t.Logf("20 MB took %v; beside it the slowest of %d calls took %v", large, calls, took)
	if took > large+time.Second {
		t.Errorf("a neighbour waited for %v, for more than one message (%v)", took, large)
	}
	loud.await("the page's answer", func(s *messages.Snapshot) bool { return s.State == messages.StateActive })
	took, calls = worst(func() {
		if got, err := patient(loud, "for (let i = 0; i < 20000; i++) console.error(i, 'x'.repeat(200)); 0"); err != nil || got != "0" {
			t.Errorf("the flood: %s, %v", got, err)
		}
	})
	t.Logf("beside 20,000 console errors the slowest of %d calls took %v", calls, took)
	for _, k := range []*task{first, quiet} {
		if s := k.snapshot(); s.Connection.Reconnects > 0 || s.State != messages.StateActive {
			t.Errorf("task %s is %s after %d reconnects", k.id, s.State, s.Connection.Reconnects)
		}
	}
	if text := r.log.String(); strings.Contains(text, "panic") {
		t.Error("a panic")
	}
}
