package voter_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"holdfast/internal/cluster/certs"
	"holdfast/internal/cluster/store"
	"holdfast/internal/cluster/store/etcd"
	"holdfast/internal/cluster/store/storetest"
	"holdfast/internal/cluster/store/voter"
)

// TestMain allows what etcd leaves of a server that is closed: connections between voters
// that no request uses end with the process of the other voter, which here is the same.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreAnyFunction("net/http.(*conn).serve"),
		goleak.IgnoreAnyFunction("net/http.(*connReader).backgroundRead"),
	)
}

// patience is how long a test waits for what must happen: many times what it takes on an
// idle machine.
const patience = 60 * time.Second

// hosts gives each server an address of its own: all of 127/8 is this machine, so no two
// tests, and no two processes, ever want the same port.
var hosts atomic.Uint32

func newHost() string {
	n := hosts.Add(1)
	pid := uint32(os.Getpid())
	return net.IPv4(127, byte(64+pid>>13&63), byte(pid>>5), byte(pid<<3|n&7)|byte(n>>3<<3)).String()
}

func open(t *testing.T, c etcd.Config) *etcd.Store {
	t.Helper()
	s, err := etcd.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func start(t *testing.T, c voter.Config) *voter.Voter {
	t.Helper()
	v, err := voter.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	return v
}

func ready(t *testing.T, voters ...*voter.Voter) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, v := range voters {
		if err := v.Ready(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

func endpoints(t *testing.T, voters map[string]string, hasTLS bool) []string {
	t.Helper()
	list, err := voter.Endpoints(voters, hasTLS)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestEtcdDoesWhatTheMapDoes: random transactions have the same outcome, the same
// revisions and the same events in etcd as in the map that the simulation stands on.
func TestEtcdDoesWhatTheMapDoes(t *testing.T) {
	t.Parallel()
	t.Run("own voter", func(t *testing.T) {
		t.Parallel()
		voters := map[string]string{"a": newHost() + ":7071"}
		v := start(t, voter.Config{Name: "a", Cluster: "c", Dir: t.TempDir(), Voters: voters})
		ready(t, v)
		compare(t, open(t, etcd.Config{Cluster: "c", Endpoints: endpoints(t, voters, false)}))
	})
	// What Debian ships is four minors behind.
	t.Run("etcd of Debian", func(t *testing.T) {
		t.Parallel()
		compare(t, open(t, etcd.Config{Cluster: "c", Endpoints: []string{debian(t)}}))
	})
}

// debian runs the etcd of Debian's package. Without it the test fails: a proof that is
// skipped proves nothing.
func debian(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("etcd")
	if err != nil {
		t.Fatalf("etcd is needed (Debian: apt-get install etcd-server; .ci/test does it): %v", err)
	}
	host := newHost()
	client, peer := "http://"+host+":2379", "http://"+host+":2380"
	var log bytes.Buffer
	cmd := exec.Command(program, "--name=x", "--data-dir="+t.TempDir(), "--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=x="+peer, "--logger=zap")
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s", &log)
		}
	})
	return client
}

func compare(t *testing.T, s *etcd.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	m := storetest.NewMap()
	first, err := s.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.List(), first); diff != "" {
		t.Fatalf("an empty store: %s", diff)
	}
	var mu sync.Mutex
	var seen []store.Event
	watching, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- s.Watch(watching, first.Revision, func(events []store.Event) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, events...)
		})
	}()

	r := rand.New(rand.NewPCG(7, 7))
	keys := []string{"cluster", "nodes/a", "nodes/b", "tasks/t/own", "tasks/t/spec"}
	var told []store.Event
	for i := range 150 {
		txn := randomTxn(r, keys, m)
		want, events := m.Commit(txn)
		told = append(told, events...)
		got, err := s.Commit(ctx, txn)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("transaction %d, %+v: %s", i, txn, diff)
		}
	}
	got, err := s.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.List(), got); diff != "" {
		t.Errorf("the listing: %s", diff)
	}
	for {
		mu.Lock()
		events := slices.Clone(seen)
		mu.Unlock()
		if len(events) >= len(told) || ctx.Err() != nil {
			// Within a revision the order is the store's own.
			less := func(a, b store.Event) int {
				if a.Changed != b.Changed {
					return int(a.Changed - b.Changed)
				}
				return strings.Compare(a.Key, b.Key)
			}
			slices.SortStableFunc(told, less)
			slices.SortStableFunc(events, less)
			if diff := cmp.Diff(told, events); diff != "" {
				t.Errorf("the watch: %s", diff)
			}
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("the watch ended: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	end()
	if err := <-ended; err == nil {
		t.Error("the watch ended without an error")
	}
}

// randomTxn makes conditions that hold about half of the time.
func randomTxn(r *rand.Rand, keys []string, m *storetest.Map) store.Txn {
	var t store.Txn
	for _, k := range keys {
		e, _ := m.Get(k)
		if r.IntN(3) == 0 {
			c := store.Condition{Key: k, Test: store.Test(r.IntN(3)), Revision: e.Created}
			if c.Test == store.ChangedAt {
				c.Revision = e.Changed
			}
			if r.IntN(8) == 0 {
				c.Revision++
			}
			if c.Test == store.NotCreatedAt && r.IntN(3) != 0 {
				c.Revision += 1000
			}
			t.If = append(t.If, c)
		}
		switch r.IntN(4) {
		case 0:
			t.Then = append(t.Then, store.Op{Key: k, Value: fmt.Appendf(nil, `{"n":%d}`, r.Int())})
		case 1:
			t.Then = append(t.Then, store.Op{Key: k, IsDelete: true})
		case 2:
			t.Read = append(t.Read, k)
		}
	}
	return t
}

// TestThreeVotersOutliveTheirLeader: with mutual TLS between all, the store answers again
// soon after one of three is gone, the leader in turn, and with two gone it answers nothing.
func TestThreeVotersOutliveTheirLeader(t *testing.T) {
	t.Parallel()
	pki := t.TempDir()
	voters := map[string]string{}
	var nodes []certs.Node
	for _, name := range []string{"a", "b", "c"} {
		host := newHost()
		voters[name] = host + ":7071"
		nodes = append(nodes, certs.Node{Name: name, Addresses: []string{host}})
	}
	if _, err := certs.Init(pki, nodes, time.Now()); err != nil {
		t.Fatal(err)
	}
	files := func(name string) certs.Files {
		return certs.Files{Cert: filepath.Join(pki, certs.CertFile(name)), Key: filepath.Join(pki, certs.KeyFile(name)), CA: filepath.Join(pki, certs.CAFile)}
	}
	running := map[string]*voter.Voter{}
	var all []*voter.Voter
	for name := range voters {
		f := files(name)
		running[name] = start(t, voter.Config{
			Name: name, Cluster: "c", Dir: t.TempDir(), Voters: voters,
			CertFile: f.Cert, KeyFile: f.Key, CAFile: f.CA, AllowedNames: []string{"a", "b", "c"},
		})
		all = append(all, running[name])
	}
	ready(t, all...)
	tls, err := files("a").Config([]string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, etcd.Config{Cluster: "c", Endpoints: endpoints(t, voters, true), TLS: tls})
	put := func(limit time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := s.Commit(ctx, store.Txn{Then: []store.Op{{Key: "k", Value: []byte("v")}}})
		return err
	}
	if err := put(patience); err != nil {
		t.Fatal(err)
	}
	var leader string
	for name, v := range running {
		if v.IsLeader() {
			leader = name
		}
	}
	running[leader].Close()
	delete(running, leader)
	for began := time.Now(); ; {
		// An attempt is short, as a renewal's: one may be stuck with the server that is gone.
		err := put(350 * time.Millisecond)
		if err == nil {
			break
		}
		if time.Since(began) > patience {
			t.Fatalf("no answer without the leader %s: %v", leader, err)
		}
	}
	for name, v := range running {
		v.Close()
		delete(running, name)
		break
	}
	if err := put(2 * time.Second); err == nil {
		t.Error("one of three voters answers by itself")
	}
}

// TestStrangersAreTurnedAway: a client with a certificate of another CA reads nothing.
func TestStrangersAreTurnedAway(t *testing.T) {
	t.Parallel()
	host := newHost()
	voters := map[string]string{"a": host + ":7071"}
	own, foreign := t.TempDir(), t.TempDir()
	for _, dir := range []string{own, foreign} {
		if _, err := certs.Init(dir, []certs.Node{{Name: "a", Addresses: []string{host}}, {Name: "stranger"}}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	files := func(dir, name, ca string) certs.Files {
		return certs.Files{Cert: filepath.Join(dir, certs.CertFile(name)), Key: filepath.Join(dir, certs.KeyFile(name)), CA: filepath.Join(ca, certs.CAFile)}
	}
	f := files(own, "a", own)
	v := start(t, voter.Config{
		Name: "a", Cluster: "c", Dir: t.TempDir(), Voters: voters,
		CertFile: f.Cert, KeyFile: f.Key, CAFile: f.CA, AllowedNames: []string{"a"},
	})
	ready(t, v)
	list := func(f certs.Files, limit time.Duration) error {
		tls, err := f.Config(nil)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, etcd.Config{Cluster: "c", Endpoints: endpoints(t, voters, true), TLS: tls})
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err = s.List(ctx)
		return err
	}
	if err := list(f, patience); err != nil {
		t.Errorf("a node of the cluster: %v", err)
	}
	if list(files(foreign, "a", own), time.Second) == nil {
		t.Error("a certificate of another CA was let in")
	}
	if list(files(own, "stranger", own), time.Second) == nil {
		t.Error("a name that may not connect was let in")
	}
}

// TestAVoterStartsAgain: what was written is there after a restart.
func TestAVoterStartsAgain(t *testing.T) {
	t.Parallel()
	voters := map[string]string{"a": newHost() + ":7071"}
	c := voter.Config{Name: "a", Cluster: "c", Dir: t.TempDir(), Voters: voters, Log: slog.New(slog.DiscardHandler)}
	v := start(t, c)
	ready(t, v)
	s := open(t, etcd.Config{Cluster: "c", Endpoints: endpoints(t, voters, false)})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := s.Commit(ctx, store.Txn{Then: []store.Op{{Key: "k", Value: []byte("v")}}})
	if err != nil || !r.IsDone {
		t.Fatalf("%+v, %v", r, err)
	}
	v.Close()
	v = start(t, c)
	ready(t, v)
	l, err := s.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := []store.Entry{{Key: "k", Value: []byte("v"), Created: r.Revision, Changed: r.Revision}}
	if diff := cmp.Diff(want, l.Entries); diff != "" {
		t.Error(diff)
	}
}

func TestConfigurationsAreRefused(t *testing.T) {
	t.Parallel()
	good := voter.Config{Name: "a", Cluster: "c", Voters: map[string]string{"a": "127.0.0.1:7071"}}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*voter.Config){
		"two voters":         func(c *voter.Config) { c.Voters = map[string]string{"a": "h:1", "b": "h:4"} },
		"not a voter":        func(c *voter.Config) { c.Name = "b" },
		"no port":            func(c *voter.Config) { c.Voters = map[string]string{"a": "h"} },
		"no room for ports":  func(c *voter.Config) { c.Voters = map[string]string{"a": "h:65535"} },
		"a key and no more":  func(c *voter.Config) { c.KeyFile = "k" },
		"a port of words":    func(c *voter.Config) { c.Voters = map[string]string{"a": "h:http"} },
		"a list of no voter": func(c *voter.Config) { c.Voters = nil },
	} {
		c := good
		change(&c)
		if c.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, c := range []etcd.Config{{Cluster: "c"}, {Endpoints: []string{"http://h:1"}}, {Cluster: "a/b", Endpoints: []string{"http://h:1"}}} {
		if _, err := etcd.Open(c); err == nil {
			t.Errorf("%+v was opened", c)
		}
	}
}

// TestTransactionsAreBounded: what etcd would refuse is refused before it is sent.
func TestTransactionsAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t, etcd.Config{Cluster: "c", Endpoints: []string{"http://127.0.0.1:1"}})
	for name, txn := range map[string]store.Txn{
		"conditions": {If: make([]store.Condition, store.MaxOps+1)},
		"operations": {Then: make([]store.Op, store.MaxOps+1)},
		"a value":    {Then: []store.Op{{Key: "k", Value: make([]byte, 1<<20)}}},
		"a test":     {If: []store.Condition{{Key: "k", Test: 9}}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err := s.Commit(ctx, txn)
		cancel()
		if err == nil || ctx.Err() == context.DeadlineExceeded {
			t.Errorf("%s: %v", name, err)
		}
	}
}
