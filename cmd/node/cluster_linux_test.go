package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"holdfast/chaos"
	"holdfast/messages"
)

// trio is three nodes of one cluster, each a process on a loopback address of its own.
type trio struct {
	*testing.T
	dir    string
	voters string
	port   int // of voters; no two clusters of this process have the same
	hosts  map[string]string
	shells map[string]*shell
	nodes  map[string]*process
}

var (
	// trios counts the clusters of this process.
	trios atomic.Int32
	// oneTrio has one of them run at a time: several on two cores would not renew their leases.
	oneTrio sync.Mutex
)

// newTrio makes the certificates of a cluster of three. All of 127/8 is this machine, so no two
// processes that test ever want the same port.
func newTrio(t *testing.T) *trio {
	t.Helper()
	oneTrio.Lock()
	t.Cleanup(oneTrio.Unlock)
	c := &trio{T: t, dir: t.TempDir(), hosts: map[string]string{}, shells: map[string]*shell{}, nodes: map[string]*process{}}
	pid := os.Getpid()
	c.port = 7071 + 10*int(trios.Add(1)-1)%50_000
	init := []string{"cluster", "init", filepath.Join(c.dir, "certs")}
	var voters []string
	for i, name := range []string{"a", "b", "c"} {
		c.hosts[name] = net.IPv4(127, byte(128+pid>>13&63), byte(pid>>5), byte(pid<<3|i+1)).String()
		c.shells[name] = &shell{T: t, state: filepath.Join(c.dir, name)}
		init = append(init, name+"="+c.hosts[name])
		voters = append(voters, name+"="+c.hosts[name]+":"+strconv.Itoa(c.port))
	}
	c.voters = strings.Join(voters, ",")
	out, _ := c.shells["a"].run(0, init...)
	if n := strings.Count(out, "\n"); n != 9 {
		t.Fatalf("cluster init wrote %d files: %s", n, out)
	}
	return c
}

func (c *trio) start(name string, more ...string) *process {
	c.Helper()
	c.nodes[name] = c.shells[name].serve(append(c.flags(name), more...)...)
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
		if !n.IsVoter || n.Term == 0 || n.Places != 5000 || n.Addresses.Peer != c.hosts[n.Node]+":"+strconv.Itoa(c.port+2) || !strings.HasPrefix(n.Addresses.HTTP, "http://127.0.0.1:") {
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

// TestAnyNodeAnswersForAnyTask: each route of a task works through each node, by the tokens of
// that node, and a task has one node.
func TestAnyNodeAnswersForAnyTask(t *testing.T) {
	t.Parallel()
	b, url := fake(t, chaos.Options{Pages: 1})
	c := newTrio(t)
	for _, name := range []string{"a", "b", "c"} {
		c.start(name, "--allow-chaos")
	}
	for _, name := range []string{"a", "b", "c"} {
		c.await(name, "held held held")
	}
	spec := fmt.Sprintf(`{"cdp_url":%q}`, url)
	want := func(status int, node, method, path, body, has string) string {
		t.Helper()
		got, out := c.call(node, method, path, body)
		if got != status || !strings.Contains(out, has) {
			t.Fatalf("%s %s through %s: %d %s, want %d %s\n%s", method, path, node, got, out, status, has, c.nodes[node].log)
		}
		return out
	}
	await := func(status int, node, method, path, body, has string) {
		t.Helper()
		eventually(t, method+" "+path+" through "+node, func() bool {
			got, out := c.call(node, method, path, body)
			return got == status && strings.Contains(out, has)
		})
	}
	c.begin("a", "one", spec)
	// The others know it as soon as their watch has brought the record.
	await(200, "b", "GET", "/v1/tasks/one", "", `"node":"a"`)
	await(200, "c", "GET", "/v1/tasks/one", "", `"node":"a"`)
	want(200, "b", "PUT", "/v1/tasks/one", spec, `"node":"a"`)
	c.begin("b", "two", spec)
	c.cordon("a", "b", "c") // so a task stays where it is, also where a node is starved for seconds
	await(200, "c", "GET", "/v1/tasks", "", `"task_id":"two","node":"b"`)
	want(200, "c", "GET", "/v1/tasks", "", `"task_id":"one","node":"a"`)
	if out := want(200, "c", "GET", "/v1/tasks?local=true", "", ""); strings.Contains(out, "one") {
		t.Error(out)
	}

	for node, path := range map[string]string{"a": "/v1/tree", "b": "/v1/pressure"} {
		for _, name := range []string{"a", "b", "c"} {
			want(200, node, "GET", path, "", `"node":"`+name+`"`)
		}
	}

	// A stream through one node shows the dialog that another one answers.
	watch := c.shells["b"].command("watch", "one", "--json")
	out, err := watch.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = watch.Process.Kill(); _ = watch.Wait() })
	events := make(chan string, 64)
	go func() {
		defer close(events)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			events <- lines.Text()
		}
	}()
	next := func(what string) {
		t.Helper()
		for deadline := time.After(patience); ; {
			select {
			case line, ok := <-events:
				if !ok {
					t.Fatal("the stream has ended before " + what)
				}
				if strings.Contains(line, what) {
					return
				}
			case <-deadline:
				t.Fatal("the stream never said " + what)
			}
		}
	}
	next(`"reset"`)
	want(200, "c", "POST", "/v1/tasks/one/cdp", `{"method":"Runtime.evaluate","params":{"expression":"setTimeout(()=>{alert('m')},0)"}}`, "")
	next(`"dialog_opened"`)
	want(200, "b", "POST", "/v1/tasks/one/dialog", `{"action":"accept"}`, `"closed_by":"agent"`)
	next(`"dialog_closed"`)

	// A CDP client is let in through c by a ticket that a has made.
	token := c.shells["c"].token()
	var version struct {
		Socket string `json:"webSocketDebuggerUrl"`
	}
	if err := json.Unmarshal([]byte(want(200, "c", "GET", "/cdp/one/json/version?token="+token, "", "ticket=")), &version); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(version.Socket, strings.Replace(c.nodes["c"].url, "http:", "ws:", 1)) {
		t.Error("the address is not that of the node which was asked:", version.Socket)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	socket, _, err := websocket.Dial(ctx, version.Socket, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := socket.Write(ctx, websocket.MessageText, []byte(`{"id":1,"method":"Target.getTargets"}`)); err != nil {
		t.Fatal(err)
	}
	if _, answer, err := socket.Read(ctx); err != nil || !strings.Contains(string(answer), "targetInfos") {
		t.Errorf("%s %v", answer, err)
	}
	_ = socket.CloseNow()

	// A token of one task is good for that task alone, through every node.
	scoped, _ := c.shells["b"].run(0, "token", "--task", "one")
	scopedCaller := &caller{client: c.shells["b"].caller().client, token: strings.TrimSpace(scoped)}
	if status, out, _ := scopedCaller.call("GET", c.nodes["b"].url+"/v1/tasks/one", ""); status != 200 {
		t.Error(status, out)
	}
	if status, out, _ := scopedCaller.call("GET", c.nodes["b"].url+"/v1/tasks/two", ""); status != 403 {
		t.Error(status, out)
	}
	if status, out, _ := scopedCaller.call("GET", c.nodes["b"].url+"/v1/tasks", ""); status != 200 || strings.Contains(out, "two") || !strings.Contains(out, `"task_id":"one"`) {
		t.Error(status, out)
	}
	if status, out, _ := scopedCaller.call("GET", c.nodes["c"].url+"/v1/tasks/one", ""); status != 401 {
		t.Error("c takes a token of b's making:", status, out)
	}
	// A caller that pretends to be a node is refused, and so is a connection without a certificate.
	forged, err := http.NewRequest("GET", c.nodes["b"].url+"/v1/tasks/one", nil)
	if err != nil {
		t.Fatal(err)
	}
	forged.Header.Set("Holdfast-Caller", "admin")
	forged.Header.Set("Authorization", "Bearer "+c.shells["b"].token())
	if res, err := http.DefaultTransport.RoundTrip(forged); err != nil || res.StatusCode != 403 {
		t.Errorf("%v %v", res, err)
	} else {
		res.Body.Close()
	}
	stranger := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // it is the stranger
	defer stranger.CloseIdleConnections()
	peer, _ := http.NewRequest("GET", "https://"+net.JoinHostPort(c.hosts["a"], strconv.Itoa(c.port+2))+"/v1/tasks/one", nil)
	peer.Header.Set("Holdfast-Caller", "admin")
	if res, err := stranger.RoundTrip(peer); err == nil {
		res.Body.Close()
		t.Error("a stranger reaches the door of the nodes")
	}

	// What is stopped through one node may be started on another.
	want(204, "c", "DELETE", "/v1/tasks/two", "", "")
	await(404, "a", "GET", "/v1/tasks/two", "", "task_not_found")

	// The task of a node that is killed continues at another one, with its page. A request waits for it.
	page := pageOf(t, want(200, "b", "GET", "/v1/tasks/one/snapshot", "", `"node":"a"`))
	c.uncordon("b", "c")
	c.kill("a")
	heir := func(through string) string {
		t.Helper()
		var s messages.Snapshot
		eventually(t, "the task is active through "+through, func() bool {
			s = messages.Snapshot{} // what is left out is to be zero
			status, out := c.call(through, "GET", "/v1/tasks/one/snapshot", "")
			if status != 200 {
				t.Fatal(status, out)
			}
			return json.Unmarshal([]byte(out), &s) == nil && s.State == messages.StateActive
		})
		if s.PageTargetID != page {
			t.Errorf("the page was %s and is %s", page, s.PageTargetID)
		}
		return s.Node
	}
	if node := heir("b"); node != "b" && node != "c" {
		t.Fatalf("the task is at %q", node)
	}
	c.cordon("b", "c")
	node := heir("b")
	other := map[string]string{"b": "c", "c": "b"}[node]
	want(200, "b", "PUT", "/v1/tasks/one", spec, `"node":"`+node+`"`)
	if got := len(b.Pages()); got != 1+1 {
		t.Errorf("the browser has %d pages", got)
	}
	raise := func() {
		t.Helper()
		await(200, "b", "POST", "/v1/tasks/one/cdp", `{"method":"Runtime.evaluate","params":{"expression":"setTimeout(()=>{alert('m')},0)"}}`, "")
		await(200, "c", "POST", "/v1/tasks/one/dialog", `{"action":"accept"}`, `"closed_by":"agent"`)
	}
	raise()
	// A node that starts anew under its name has its tasks again, where no other one may take them meanwhile.
	c.uncordon(node)
	c.kill(node)
	c.start(node, "--allow-chaos")
	if got := heir(other); got != node {
		t.Errorf("the task was at %s and is at %s", node, got)
	}
	raise()
	// One that starts later answers for it too, whichever has it by then.
	c.start("a", "--allow-chaos")
	c.await("a", "held held held")
	heir("a")
	c.cordon("a", "b", "c")
	node = heir("a")
	c.everyRoute(node, map[string]string{"a": "b", "b": "c", "c": "a"}[node], spec)
}

// pageOf is the page of a snapshot.
func pageOf(t *testing.T, snapshot string) messages.TargetID {
	t.Helper()
	var s messages.Snapshot
	if err := json.Unmarshal([]byte(snapshot), &s); err != nil {
		t.Fatal(err)
	}
	return s.PageTargetID
}

// TestANodeWithoutALeaseDecidesNothing: it keeps its link and tells of a dialog that the policy
// would answer, and answers it once the store is back.
func TestANodeWithoutALeaseDecidesNothing(t *testing.T) {
	t.Parallel()
	b, url := fake(t, chaos.Options{Pages: 1})
	c := newTrio(t)
	for _, name := range []string{"a", "b", "c"} {
		c.start(name)
	}
	c.await("a", "held held held")
	caller := c.shells["a"].caller()
	path := c.nodes["a"].url + "/v1/tasks/one"
	if status, out, err := caller.call("PUT", path, fmt.Sprintf(`{"cdp_url":%q,"dialog_policy":"auto_accept","dialog_timeout_s":1,"scope":"browser"}`, url)); status != 201 {
		t.Fatal(status, out, err)
	}
	page := messages.FrameID(b.Pages()[0].Target)
	if r, err := b.OpenDialog(page, "confirm", "held", "").Wait(t.Context()); err != nil || !r.IsAccepted {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, name := range []string{"b", "c"} {
		c.nodes[name].signal(t, syscall.SIGKILL)
		c.nodes[name].wait(t)
	}
	eventually(t, "a has no lease", func() bool { return c.view("a").Nodes[0].State == messages.LeaseLapsed })
	d := b.OpenDialog(page, "confirm", "lapsed", "")
	eventually(t, "a tells of the dialog", func() bool {
		_, out, _ := caller.call("GET", path+"/snapshot", "")
		return strings.Contains(out, `"message":"lapsed"`) && strings.Contains(out, `"lease":"lapsed"`) && strings.Contains(out, `"primary":"up"`)
	})
	eventually(t, "an order is refused, since the store does not answer", func() bool {
		status, out, _ := caller.call("POST", path+"/dialog", `{"action":"accept"}`)
		return status == 503 && strings.Contains(out, "no_quorum")
	})
	// The policy would have answered at once, and the watchdog after a second.
	select {
	case <-d.Done():
		r, _ := d.Result()
		t.Fatalf("a node without a lease has answered: %+v", r)
	case <-time.After(2 * time.Second):
	}
	c.start("b")
	if r, err := d.Wait(t.Context()); err != nil || !r.IsAccepted {
		t.Errorf("with its lease back: %+v, %v", r, err)
	}
}
