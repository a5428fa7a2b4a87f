package main

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"holdfast/chaos"
)

var clusterFigures = flag.Bool("cluster-figures", false, "measure what a cluster costs, as many times as figures need")

// TestFigureCluster measures what a call costs through a node that has not the task, and what the
// store costs a start: make cluster-figures. Otherwise it makes sure that they can be measured.
func TestFigureCluster(t *testing.T) {
	calls, starts := 5, 1
	if *clusterFigures {
		calls, starts = 1000, 50
	} else {
		t.Parallel()
	}
	_, url := fake(t, chaos.Options{Pages: 1})
	spec := fmt.Sprintf(`{"cdp_url":%q}`, url)
	c := newTrio(t)
	for _, name := range names {
		c.start(name)
	}
	for _, name := range names {
		c.await(name, "held held held")
	}
	alone := &shell{T: t, state: t.TempDir()}
	single := alone.serve()

	timed := func(who *caller, method, url, body string) time.Duration {
		t.Helper()
		start := time.Now()
		status, out, err := who.call(method, url, body)
		if err != nil || status/100 != 2 {
			t.Fatalf("%s %s: %d %s %v", method, url, status, out, err)
		}
		return time.Since(start)
	}
	owner, other, outside := c.shells["a"].caller(), c.shells["b"].caller(), alone.caller()
	timed(owner, "PUT", c.nodes["a"].url+"/v1/tasks/one", spec)
	eventually(t, "b knows the task", func() bool {
		status, _, err := other.call("GET", c.nodes["b"].url+"/v1/tasks/one", "")
		return err == nil && status == http.StatusOK
	})
	var direct, passed, clustered, lone []time.Duration
	for range calls {
		const body = `{"method":"Runtime.evaluate","params":{"expression":"1+1"}}`
		direct = append(direct, timed(owner, "POST", c.nodes["a"].url+"/v1/tasks/one/cdp", body))
		passed = append(passed, timed(other, "POST", c.nodes["b"].url+"/v1/tasks/one/cdp", body))
	}
	for i := range starts {
		path := fmt.Sprintf("/v1/tasks/t%d", i)
		clustered = append(clustered, timed(owner, "PUT", c.nodes["a"].url+path, spec))
		lone = append(lone, timed(outside, "PUT", single.url+path, spec))
	}
	middle := func(d []time.Duration) time.Duration {
		slices.Sort(d)
		return d[len(d)/2]
	}
	if d, p := middle(direct), middle(passed); *clusterFigures {
		t.Logf("figure: a call through a node that has not the task: %v; at the one that has it: %v; ratio of medians %.2f", p, d, float64(p)/float64(d))
		t.Logf("figure: a start in a cluster of three: %v; on a node in none: %v; more by %v", middle(clustered), middle(lone), middle(clustered)-middle(lone))
	}
}
