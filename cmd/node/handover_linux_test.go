package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdfast/chaos"
)

// busy calls a task without a pause through one node, and notes when it was answered.
type busy struct {
	answered []time.Time
	failed   string
}

// TestDrainGivesTasksToOtherNodes: no call fails, whether an operator drains a node or its process
// is told to end, and tasks are away from their pages for a moment alone. A task whose dialog is open
// goes once it is answered.
func TestDrainGivesTasksToOtherNodes(t *testing.T) {
	t.Parallel()
	const tasks = 12
	b, url := fake(t, chaos.Options{Pages: 1})
	c := newTrio(t)
	for _, name := range names {
		c.start(name)
	}
	for _, name := range names {
		c.await(name, "held held held")
	}
	for i := range tasks {
		c.begin("a", fmt.Sprintf("t%d", i), fmt.Sprintf(`{"cdp_url":%q}`, url))
	}
	pages := len(b.Pages())
	where := func() map[string]int {
		at := map[string]int{}
		_, out := c.call("c", "GET", "/v1/tasks", "")
		for _, name := range names {
			at[name] = strings.Count(out, `"node":"`+name+`"`)
		}
		return at
	}
	eventually(t, "c knows all", func() bool { return where()["a"] == tasks })

	var (
		callers sync.WaitGroup
		end     = make(chan struct{})
		seen    [tasks - 1]busy
	)
	stop := sync.OnceFunc(func() { close(end); callers.Wait() })
	t.Cleanup(stop)
	for i := range seen {
		who := c.shells["c"].caller()
		callers.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				status, out, err := who.call("POST", fmt.Sprintf("%s/v1/tasks/t%d/cdp", c.nodes["c"].url, i), `{"method":"Runtime.evaluate","params":{"expression":"1+1"}}`)
				if err == nil && (strings.Contains(out, "lease_lapsed") || strings.Contains(out, "no_quorum")) {
					continue // a node that is starved for two seconds has no lease, wherever the task is
				}
				if err != nil || status != 200 {
					seen[i].failed = fmt.Sprint(status, out, err)
					return
				}
				seen[i].answered = append(seen[i].answered, time.Now())
			}
		})
	}
	asking := fmt.Sprintf("/v1/tasks/t%d", tasks-1)
	if status, out := c.call("b", "POST", asking+"/cdp", `{"method":"Runtime.evaluate","params":{"expression":"setTimeout(()=>{alert('m')},0)"}}`); status != 200 {
		t.Fatal(status, out)
	}
	eventually(t, "a dialog is open", func() bool {
		_, out := c.call("b", "GET", asking+"/snapshot", "")
		return strings.Contains(out, `"message":"m"`)
	})
	var said string
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		said, _ = c.shells["b"].run(0, "cluster", "drain", "a")
	}()
	eventually(t, "the others have moved", func() bool { return where()["a"] == 1 })
	if status, out := c.call("b", "POST", asking+"/dialog", `{"action":"accept"}`); status != 200 || !strings.Contains(out, `"closed_by":"agent"`) {
		t.Error(status, out)
	}
	<-drained
	if !strings.HasPrefix(said, fmt.Sprintf("a: %d tasks have moved", tasks)) {
		t.Error(said)
	}
	eventually(t, "all are at other nodes", func() bool { at := where(); return at["a"] == 0 && at["b"]+at["c"] == tasks })
	if status, out := c.call("a", "PUT", "/v1/tasks/new", fmt.Sprintf(`{"cdp_url":%q}`, url)); status != 429 || !strings.Contains(out, "cordoned") {
		t.Error(status, out)
	}

	// All go to c, which is the only one that is left for them.
	c.nodes["b"].signal(t, syscall.SIGTERM)
	c.nodes["b"].wait(t)
	if code := c.nodes["b"].ProcessState.ExitCode(); code != 0 {
		t.Errorf("b ended with %d: %s", code, c.nodes["b"].log)
	}
	eventually(t, "all are at c", func() bool { return where()["c"] == tasks })
	stop()
	var gaps []time.Duration
	for i, s := range seen {
		if s.failed != "" {
			t.Errorf("a call of t%d failed: %s", i, s.failed)
		}
		var worst time.Duration
		for k := 1; k < len(s.answered); k++ {
			worst = max(worst, s.answered[k].Sub(s.answered[k-1]))
		}
		gaps = append(gaps, worst)
	}
	slices.Sort(gaps)
	t.Logf("the longest time without an answer, of each task: %v", gaps)
	if got := len(b.Pages()); got != pages {
		t.Errorf("the browser had %d pages and has %d", pages, got)
	}

	// Tasks go back where they would be placed now, as far as a node ranks first for them.
	c.uncordon("a")
	c.start("b")
	c.await("c", "held held held")
	c.shells["a"].run(0, "cluster", "rebalance")
	eventually(t, "they share a node, as they share a browser", func() bool {
		at := where()
		return max(at["a"], at["b"], at["c"]) == tasks
	})
}
