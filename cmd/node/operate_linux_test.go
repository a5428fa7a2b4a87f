package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/internal/cluster"
	"holdfast/internal/cluster/certs"
	"holdfast/messages"
)

// flags are those of a node's serve.
func (c *trio) flags(name string) []string {
	in := func(file string) string { return filepath.Join(c.dir, "certs", file) }
	return []string{
		"--node-name", name, "--cluster-voters", c.voters,
		"--cluster-cert", in(name + ".crt"), "--cluster-key", in(name + ".key"), "--cluster-ca", in("ca.crt"),
		"--cluster-seal-key", in("seal.key"),
	}
}

// kill ends nodes without a word.
func (c *trio) kill(names ...string) {
	c.Helper()
	for _, name := range names {
		c.nodes[name].signal(c.T, syscall.SIGKILL)
		c.nodes[name].wait(c.T)
	}
}

// refused starts a node that has to end by itself, and returns what it said.
func (c *trio) refused(name string) string {
	c.Helper()
	cmd := c.shells[name].command(append([]string{"serve", "--listen", "127.0.0.1:0"}, c.flags(name)...)...)
	alarm := time.AfterFunc(2*patience, func() { _ = cmd.Process.Kill() })
	defer alarm.Stop()
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 1 {
		c.Fatalf("%s ended with %v: %s", name, err, out)
	}
	return string(out)
}

// call asks a node with the admin token of its own. Where the cluster says that no node can answer
// now, it asks again, as the answer tells a caller to.
func (c *trio) call(node, method, path, body string) (status int, out string) {
	c.Helper()
	eventually(c.T, method+" "+path+" through "+node, func() bool {
		var err error
		if status, out, err = c.shells[node].caller().call(method, c.nodes[node].url+path, body); err != nil {
			c.Fatal(err)
		}
		return status != http.StatusServiceUnavailable || !strings.Contains(out, "retry_after_s")
	})
	return status, out
}

// begin has a task start through a node, and be active there. Where a first attempt was refused for
// want of a lease the task may run by the second.
func (c *trio) begin(node, id, spec string) {
	c.Helper()
	path := "/v1/tasks/" + id
	if status, out := c.call(node, "PUT", path, spec); status != http.StatusCreated && status != http.StatusOK {
		c.Fatalf("%d %s\n%s", status, out, c.nodes[node].log)
	}
	eventually(c.T, id+" is active at "+node, func() bool {
		_, out := c.call(node, "GET", path, "")
		return strings.Contains(out, `"node":"`+node+`"`) && strings.Contains(out, `"state":"active"`)
	})
}

// cordon keeps tasks from nodes: those that have none of them now, and those that are taken over.
func (c *trio) cordon(names ...string) { c.setCordoned(true, names) }

func (c *trio) uncordon(names ...string) { c.setCordoned(false, names) }

func (c *trio) setCordoned(isCordoned bool, names []string) {
	c.Helper()
	method := http.MethodDelete
	if isCordoned {
		method = http.MethodPut
	}
	for _, name := range names {
		if status, out := c.call(name, method, "/v1/cluster/nodes/"+name+"/cordon", ""); status != http.StatusNoContent {
			c.Fatal(status, out)
		}
	}
	for _, name := range names {
		eventually(c.T, name+" knows it", func() bool {
			return !slices.ContainsFunc(c.view(name).Nodes, func(n messages.ClusterNode) bool {
				return slices.Contains(names, n.Node) && n.IsCordoned != isCordoned
			})
		})
	}
}

// refusals is what a node has counted for a reason.
func (c *trio) refusals(node, reason string) int {
	c.Helper()
	_, out := c.call(node, "GET", "/metrics", "")
	_, rest, _ := strings.Cut(out, fmt.Sprintf("holdfast_cluster_refused_total{reason=%q} ", reason))
	value, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(value)
	if err != nil {
		c.Fatal(err)
	}
	return n
}

// TestTheStoreIsLookedAfter: what an operator does when a node is to be kept free, when a voter's
// data is lost, and when most voters are.
func TestTheStoreIsLookedAfter(t *testing.T) {
	t.Parallel()
	_, url := fake(t, chaos.Options{Pages: 1})
	spec := fmt.Sprintf(`{"cdp_url":%q}`, url)
	c := newTrio(t)
	for _, name := range []string{"a", "b", "c"} {
		c.start(name)
	}
	c.await("a", "held held held")
	c.await("b", "held held held")

	// A cordoned node takes nothing new, through whatever node it was told, and after a restart too.
	c.shells["a"].run(0, "cluster", "cordon", "b")
	eventually(t, "b says that it is cordoned", func() bool { return c.await("b", "held held held").Nodes[1].IsCordoned })
	if status, out := c.call("b", "PUT", "/v1/tasks/one", spec); status != 429 || !strings.Contains(out, `"reason":"cordoned"`) {
		t.Error(status, out)
	}
	c.kill("b")
	c.start("b")
	c.await("b", "held held held")
	if status, out := c.call("b", "PUT", "/v1/tasks/one", spec); status != 429 {
		t.Error(status, out)
	}
	c.shells["c"].run(0, "cluster", "uncordon", "b")
	eventually(t, "b takes tasks again", func() bool {
		status, _ := c.call("b", "PUT", "/v1/tasks/one", spec)
		return status == 201 || status == 200
	})
	if status, _ := c.call("b", "DELETE", "/v1/tasks/one", ""); status != 204 {
		t.Error(status)
	}
	c.begin("a", "mine", spec)
	file := filepath.Join(c.dir, "copy")
	c.shells["c"].run(0, "cluster", "snapshot", file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || info.Size() < 1000 {
		t.Errorf("%v %v", info, err)
	}

	// A voter without its data does not start under its name, whether all of its directory is
	// gone or a part.
	c.kill("c")
	state := filepath.Join(c.dir, "c", "cluster", "c")
	if err := os.RemoveAll(filepath.Join(state, "voter", "etcd")); err != nil {
		t.Fatal(err)
	}
	if out := c.refused("c"); !strings.Contains(out, "cluster replace-voter c") {
		t.Error(out)
	}
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	if out := c.refused("c"); !strings.Contains(out, "cluster replace-voter c") {
		t.Error(out)
	}
	if _, errs := c.shells["a"].run(1, "cluster", "replace-voter", "b"); !strings.Contains(errs, "runs") {
		t.Error(errs)
	}
	c.shells["a"].run(0, "cluster", "replace-voter", "c")
	c.start("c")
	c.await("c", "held held held")
	c.await("a", "held held held")

	// With c new, the loss of b leaves a quorum: c has a vote.
	eventually(t, "c has a vote", func() bool { return strings.Contains(c.nodes["c"].log.String(), "has a vote") })
	c.kill("b")
	c.await("a", "held gone held")

	// With most voters gone, a is the store by an operator's word, in a new era.
	c.kill("c")
	if _, errs := c.shells["a"].run(2, "cluster", "recover"); !strings.Contains(errs, "--i-am-the-last") {
		t.Error(errs)
	}
	eventually(t, "a has no quorum", func() bool { return !c.view("a").HasQuorum })
	if out, _ := c.shells["a"].run(0, "cluster", "recover", "--i-am-the-last"); !strings.Contains(out, "era 2") {
		t.Error(out)
	}
	v := c.await("a", "held gone gone")
	if v.Era != 2 {
		t.Errorf("%+v", v)
	}
	eventually(t, "the task has an epoch of the new era", func() bool {
		status, out := c.call("a", "GET", "/v1/tasks/mine", "")
		var s messages.Snapshot
		return status == 200 && json.Unmarshal([]byte(out), &s) == nil && s.Epoch>>40 == 2 && s.Lease == ""
	})

	// An old voter that comes back is turned away, and starts again in its place once it is free.
	if out := c.refused("b"); !strings.Contains(out, "cluster replace-voter b") {
		t.Error(out)
	}
	c.shells["a"].run(0, "cluster", "replace-voter", "b")
	if err := os.RemoveAll(filepath.Join(c.dir, "b", "cluster", "b", "voter")); err != nil {
		t.Fatal(err)
	}
	c.start("b")
	c.await("b", "held held gone")

	// A peer of the older era is refused, one of another cluster too, and the counts show it.
	peer := c.peer("b")
	for _, greeting := range []string{"holdfast/1", "other/2", ""} {
		if status := peer(greeting, "/v1/tasks/mine", nil); status != 421 {
			t.Errorf("%q: %d", greeting, status)
		}
	}
	// The old b has greeted a too.
	if c.refusals("a", "era") < 1 || c.refusals("a", "cluster") != 2 {
		t.Errorf("%v refusals for the era, %v for the cluster", c.refusals("a", "era"), c.refusals("a", "cluster"))
	}
}

// peer asks node a as the node of a certificate would.
func (c *trio) peer(name string) func(greeting, path string, header http.Header) int {
	c.Helper()
	in := func(file string) string { return filepath.Join(c.dir, "certs", file) }
	identity, err := certs.Files{Cert: in(name + ".crt"), Key: in(name + ".key"), CA: in("ca.crt")}.Config(nil)
	if err != nil {
		c.Fatal(err)
	}
	transport := &http.Transport{TLSClientConfig: identity}
	c.Cleanup(transport.CloseIdleConnections)
	address, err := cluster.PeerAddress(fmt.Sprintf("%s:%d", c.hosts["a"], c.port))
	if err != nil {
		c.Fatal(err)
	}
	return func(greeting, path string, header http.Header) int {
		c.Helper()
		r := httptest.NewRequest("GET", "https://"+address+path, nil)
		r.RequestURI = ""
		r.Header.Set("Holdfast-Caller", "admin")
		r.Header.Set("Holdfast-Hop", name)
		for k, v := range header {
			r.Header[k] = v
		}
		if greeting != "" {
			r.Header.Set("Holdfast-Cluster", greeting)
		}
		res, err := transport.RoundTrip(r)
		if err != nil {
			c.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
}

// TestACopyIsRestored: the store of a cluster that is lost as a whole is made of a copy, by one
// voter, under an era above all that were met.
func TestACopyIsRestored(t *testing.T) {
	t.Parallel()
	c := newTrio(t)
	for _, name := range []string{"a", "b", "c"} {
		c.start(name)
	}
	c.await("a", "held held held")
	file := filepath.Join(c.dir, "copy")
	c.shells["a"].run(0, "cluster", "snapshot", file)
	c.kill("a", "b", "c")
	restore := append([]string{"cluster", "restore", file}, c.flags("a")...)
	if _, errs := c.shells["a"].run(1, restore...); !strings.Contains(errs, "move it away first") {
		t.Error(errs)
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := os.RemoveAll(filepath.Join(c.dir, name, "cluster", name, "voter")); err != nil {
			t.Fatal(err)
		}
	}
	damaged := filepath.Join(c.dir, "damaged")
	if b, err := os.ReadFile(file); err != nil || os.WriteFile(damaged, append([]byte("x"), b[1:]...), 0o600) != nil {
		t.Fatal(err)
	}
	c.shells["a"].run(1, append([]string{"cluster", "restore", damaged}, c.flags("a")...)...)
	if out, _ := c.shells["a"].run(0, restore...); !strings.Contains(out, "era 2") {
		t.Error(out)
	}
	c.start("a")
	if v := c.await("a", "held gone gone"); v.Era != 2 {
		t.Errorf("%+v", v)
	}
	c.shells["a"].run(0, "cluster", "replace-voter", "c")
	c.start("c")
	c.await("c", "held gone held")
}
