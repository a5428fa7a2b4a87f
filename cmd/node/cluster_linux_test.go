package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdfast/messages"
)

// trio is three nodes of one cluster, each a process on a loopback address of its own.
type trio struct {
	*testing.T
	dir    string
	voters string
	hosts  map[string]string
	shells map[string]*shell
	nodes  map[string]*process
}

// newTrio makes the certificates of a cluster of three. All of 127/8 is this machine, so no two
// processes that test ever want the same port.
func newTrio(t *testing.T) *trio {
	t.Helper()
	c := &trio{T: t, dir: t.TempDir(), hosts: map[string]string{}, shells: map[string]*shell{}, nodes: map[string]*process{}}
	pid := os.Getpid()
	init := []string{"cluster", "init", filepath.Join(c.dir, "certs")}
	var voters []string
	for i, name := range []string{"a", "b", "c"} {
		c.hosts[name] = net.IPv4(127, byte(128+pid>>13&63), byte(pid>>5), byte(pid<<3|i+1)).String()
		c.shells[name] = &shell{T: t, state: filepath.Join(c.dir, name)}
		init = append(init, name+"="+c.hosts[name])
		voters = append(voters, name+"="+c.hosts[name]+":7071")
	}
	c.voters = strings.Join(voters, ",")
	out, _ := c.shells["a"].run(0, init...)
	if n := strings.Count(out, "\n"); n != 8 {
		t.Fatalf("cluster init wrote %d files: %s", n, out)
	}
	return c
}

func (c *trio) start(name string, more ...string) *process {
	c.Helper()
	in := func(file string) string { return filepath.Join(c.dir, "certs", file) }
	c.nodes[name] = c.shells[name].serve(append([]string{
		"--node-name", name, "--cluster-voters", c.voters,
		"--cluster-cert", in(name + ".crt"), "--cluster-key", in(name + ".key"), "--cluster-ca", in("ca.crt"),
	}, more...)...)
	return c.nodes[name]
}

// view is what a node knows of the cluster.
func (c *trio) view(name string) messages.Cluster {
	c.Helper()
	out, _ := c.shells[name].run(0, "cluster", "status", "--json")
	var v messages.Cluster
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		c.Fatalf("%v: %s", err, out)
	}
	return v
}

// await waits until a node sees the others in these states, in the order of their names.
func (c *trio) await(name, states string) messages.Cluster {
	c.Helper()
	var v messages.Cluster
	for deadline := time.Now().Add(2 * patience); ; time.Sleep(100 * time.Millisecond) {
		v = c.view(name)
		var got []string
		for _, n := range v.Nodes {
			got = append(got, string(n.State))
		}
		if strings.Join(got, " ") == states {
			return v
		}
		if time.Now().After(deadline) {
			c.Fatalf("node %s sees %v, want %s\n%s", name, got, states, c.nodes[name].log)
		}
	}
}

// TestThreeNodesMakeACluster: they find each other with the certificates of cluster init, give
// up one that is killed, take it back under its name at once, and end in good order.
func TestThreeNodesMakeACluster(t *testing.T) {
	t.Parallel()
	c := newTrio(t)
	for _, name := range []string{"a", "b", "c"} {
		c.start(name)
	}
	v := c.await("a", "held held held")
	if v.Name != "holdfast" || v.Era != 1 || !v.HasQuorum {
		t.Errorf("%+v", v)
	}
	for _, n := range v.Nodes {
		if !n.IsVoter || n.Term == 0 || n.Places != 5000 || n.Addresses.Peer != c.hosts[n.Node]+":7073" || !strings.HasPrefix(n.Addresses.HTTP, "http://127.0.0.1:") {
			t.Errorf("%+v", n)
		}
	}
	eventually(t, "b lists the members", func() bool {
		out, _ := c.shells["b"].run(0, "cluster", "members")
		return strings.Count(out, "held") == 3
	})
	caller := c.shells["b"].caller()
	eventually(t, "b is ready, and its metrics say so", func() bool {
		ready, _, _ := caller.call("GET", c.nodes["b"].url+"/readyz", "")
		_, out, err := caller.call("GET", c.nodes["b"].url+"/metrics", "")
		return ready == 200 && err == nil && strings.Contains(out, "holdfast_cluster_has_quorum 1\n") && strings.Contains(out, `holdfast_cluster_nodes{state="held"} 3`)
	})

	second := c.view("a").Nodes[1].Term
	c.nodes["b"].signal(t, syscall.SIGKILL)
	c.nodes["b"].wait(t)
	c.await("a", "held gone held")
	c.start("b")
	v = c.await("b", "held held held")
	if v.Nodes[1].Term <= second {
		t.Errorf("the term of b was %d and is %d", second, v.Nodes[1].Term)
	}

	// A second process under a name that is taken does not start.
	other := c.shells["a"].command("serve", "--listen", "127.0.0.1:0", "--node-name", "a", "--cluster-voters", c.voters,
		"--cluster-cert", filepath.Join(c.dir, "certs", "a.crt"), "--cluster-key", filepath.Join(c.dir, "certs", "a.key"), "--cluster-ca", filepath.Join(c.dir, "certs", "ca.crt"))
	if out, err := other.CombinedOutput(); err == nil || !strings.Contains(string(out), "another process runs as this node") {
		t.Errorf("%v: %s", err, out)
	}

	// Without a quorum a node is not ready, and says why.
	c.nodes["b"].signal(t, syscall.SIGTERM)
	c.nodes["b"].wait(t)
	if code := c.nodes["b"].ProcessState.ExitCode(); code != 0 {
		t.Errorf("b ended with %d: %s", code, c.nodes["b"].log)
	}
	c.await("a", "held gone held")
	c.nodes["c"].signal(t, syscall.SIGKILL)
	c.nodes["c"].wait(t)
	eventually(t, "a has no quorum", func() bool {
		v := c.view("a")
		return !v.HasQuorum && v.Nodes[0].State == messages.LeaseLapsed
	})
	if _, body, _ := c.shells["a"].caller().call("GET", c.nodes["a"].url+"/readyz", ""); !strings.Contains(body, "the cluster's store does not answer") {
		t.Error(body)
	}
	c.nodes["a"].signal(t, syscall.SIGTERM)
	c.nodes["a"].wait(t)
	if code := c.nodes["a"].ProcessState.ExitCode(); code != 0 {
		t.Errorf("a ended with %d, for want of its store: %s", code, c.nodes["a"].log)
	}
}

// TestANodeWithoutAClusterHasNone: nothing of it is there.
func TestANodeWithoutAClusterHasNone(t *testing.T) {
	t.Parallel()
	s := &shell{T: t, state: t.TempDir()}
	p := s.serve()
	if _, errs := s.run(1, "cluster", "status"); !strings.Contains(errs, "not_found") {
		t.Error(errs)
	}
	if _, err := os.Stat(filepath.Join(s.state, "cluster")); err == nil {
		t.Error("it has files of a cluster")
	}
	_, out, _ := s.caller().call("GET", p.url+"/metrics", "")
	if strings.Contains(out, "holdfast_cluster_") {
		t.Error("it has metrics of a cluster")
	}
	if _, errs := s.run(2, "serve", "--cluster-enabled"); !strings.Contains(errs, "cluster.voters") {
		t.Error(errs)
	}
}
