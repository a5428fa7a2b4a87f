package cluster

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/cluster/clock"
	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/member"
	"holdfast/internal/cluster/seal"
	"holdfast/internal/cluster/store"
	"holdfast/messages"
)

// Config is what a Cluster is made of.
type Config struct {
	// Name is the cluster's, and Node this node's.
	Name, Node string
	// Instance names this run of the node, and Predecessor the one before it on the same
	// state directory, which is dead; "" for none.
	Instance, Predecessor string
	// Store has the cluster's records. The caller closes it after Leave.
	Store store.Store
	// Voters are the addresses of the nodes that keep the store, by name; empty where others do.
	Voters map[string]string
	// Keeper is this node's own voter; nil where it has none.
	Keeper Keeper
	// Servers are those of the store; nil where others run them.
	Servers Servers
	// Notes keeps what is to outlive this run; Era and IsCordoned are what the last one kept.
	Notes      Notes
	Era        uint32
	IsCordoned bool
	// Version is that of the program.
	Version string
	// Addresses are where this node answers.
	Addresses messages.ClusterAddresses
	// TLS is for connections to other nodes.
	TLS *tls.Config
	// Tasks are those of this node.
	Tasks Tasks
	// Seal encrypts what the store holds of tasks. It may be nil: then no task is taken over.
	Seal *seal.Sealer
	// Load counts what runs on this node. It must not wait.
	Load func() Load
	Log  *slog.Logger
}

// Load is what a node has taken on.
type Load struct{ Tasks, Anchors, Places int }

// info is what a node's record says besides its lease.
type info struct {
	Version string `json:"version,omitempty"`
	HTTP    string `json:"http,omitempty"`
	Peer    string `json:"peer,omitempty"`
	Tasks   int    `json:"tasks,omitempty"`
	Anchors int    `json:"anchors,omitempty"`
	Places  int    `json:"places,omitempty"`
}

// describeEvery is the pause between two looks at the node's load.
const describeEvery = time.Second

// Cluster is a node's part in a cluster. Its methods are safe for concurrent use; none but
// Leave waits.
type Cluster struct {
	config Config
	member *member.Member
	duties duties
	keeper keeper
	visits visits

	standbys standbys

	ctx    context.Context // ended by Leave
	joined chan struct{}   // closed once member is set, which its handler comes before
	end    context.CancelFunc
	all    sync.WaitGroup

	transport *http.Transport
	counts    *counts
	keptEra   uint32               // of the goroutine of describe
	orphans   map[string]time.Time // since when; of the goroutine of describe

	isCordoned atomic.Bool
	isLeaving  atomic.Bool // no task is ended for want of running here

	mu     sync.Mutex                      // protects what follows
	claims map[messages.TaskID]int         // under way
	taking map[messages.TaskID]lease.Begin // tasks that are being taken up
	taken  chan struct{}                   // closed when the next one has been
	stays  map[messages.TaskID]staying     // tasks that could not be given away yet
}

// Join starts it. The node joins in the background, as soon as the store answers.
func Join(c Config) (*Cluster, error) {
	if c.Name == "" || c.Load == nil || c.Tasks == nil || c.Store == nil || c.Log == nil || c.Notes == nil {
		return nil, errors.New("cluster: a name, a store, a load, tasks, notes and a log are needed")
	}
	cluster := &Cluster{
		config: c, counts: newCounts(), transport: newTransport(c.TLS), orphans: map[string]time.Time{}, claims: map[messages.TaskID]int{}, duties: duties{tasks: c.Tasks}, joined: make(chan struct{}), taking: map[messages.TaskID]lease.Begin{},
		taken: make(chan struct{}), stays: map[messages.TaskID]staying{}, visits: visits{of: map[messages.TaskID]*visit{}},
		standbys: standbys{of: map[messages.TaskID]*held{}, again: map[messages.TaskID]time.Time{}, streams: map[string]*stream{}},
		keeper:   keeper{specs: map[messages.TaskID]*keptSpec{}, memories: map[messages.TaskID]keptMemory{}},
	}
	ctx, cancel := context.WithCancel(context.Background())
	cluster.ctx, cluster.end = ctx, cancel
	cluster.isCordoned.Store(c.IsCordoned)
	m, err := member.Join(member.Config{
		Lease: lease.Config{
			Name: c.Node, Instance: c.Instance, Predecessor: c.Predecessor, Era: c.Era, IsCordoned: c.IsCordoned, Info: cluster.info(), Times: lease.DefaultTimes(),
		},
		Store: c.Store, Now: clock.Now, Handler: handler{cluster}, Log: c.Log,
	})
	if err != nil {
		cancel()
		return nil, err
	}
	cluster.member = m
	close(cluster.joined)
	cluster.all.Go(func() { cluster.describe(ctx) })
	if c.TLS != nil {
		cluster.all.Go(func() { cluster.greetVoters(ctx) })
	}
	cluster.all.Go(cluster.keepAll)
	return cluster, nil
}

// info is what this node's record says of it now.
func (c *Cluster) info() json.RawMessage {
	load := c.config.Load()
	b, err := json.Marshal(info{
		Version: c.config.Version, HTTP: c.config.Addresses.HTTP, Peer: c.config.Addresses.Peer,
		Tasks: load.Tasks, Anchors: load.Anchors, Places: load.Places,
	})
	if err != nil {
		panic(err) // numbers and texts
	}
	return b
}

func (c *Cluster) describe(ctx context.Context) {
	ticker := time.NewTicker(describeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.keepEra()
			c.member.Describe(c.info())
			c.reconcile(time.Now())
			c.tendStandbys(time.Now())
		}
	}
}

// View is what this node knows of the cluster.
func (c *Cluster) View() messages.Cluster {
	s := c.member.Status()
	out := messages.Cluster{Name: c.config.Name, Era: s.Era, HasQuorum: c.member.HasQuorum()}
	isVoter := func(name string) bool { return c.config.Voters[name] != "" }
	known := map[string]bool{}
	for _, n := range s.Nodes {
		known[n.Name] = true
		one := messages.ClusterNode{Node: n.Name, Term: n.Term, State: messages.LeaseHeld, IsVoter: isVoter(n.Name), IsCordoned: n.IsCordoned}
		var said info
		if json.Unmarshal(n.Info, &said) == nil { // of another version: less is known
			one.Version, one.Tasks, one.Anchors, one.Places = said.Version, said.Tasks, said.Anchors, said.Places
			one.Addresses = messages.ClusterAddresses{HTTP: said.HTTP, Peer: said.Peer}
		}
		switch {
		case n.Name == c.config.Node && s.Phase != lease.Held, n.Name != c.config.Node && n.Unrenewed > lease.DefaultTimes().Own:
			one.State = messages.LeaseLapsed
		case n.IsDraining:
			one.State = messages.LeaseDraining
		}
		out.Nodes = append(out.Nodes, one)
	}
	for _, name := range append(slices.Sorted(maps.Keys(c.config.Voters)), c.config.Node) {
		if !known[name] {
			known[name] = true
			out.Nodes = append(out.Nodes, messages.ClusterNode{Node: name, State: messages.LeaseGone, IsVoter: isVoter(name)})
		}
	}
	slices.SortFunc(out.Nodes, func(a, b messages.ClusterNode) int { return cmp.Compare(a.Node, b.Node) })
	return out
}

// Check is the part of the node's readiness that the cluster decides: a node without a lease
// takes no task.
func (c *Cluster) Check() messages.Check {
	check := messages.Check{Name: "cluster"}
	switch s := c.member.Status(); {
	case s.Phase == lease.Held:
		check.OK = true
	case s.Phase == lease.Stopped:
		check.Reason = "the node is no part of the cluster any more: its log has the reason"
	case !c.member.HasQuorum():
		check.Reason = "the cluster's store does not answer"
	default:
		check.Reason = "the node has no lease"
	}
	return check
}

// Leave ends the node's part: its record is deleted, so that others need not wait for the
// end of its lease. The context bounds the wait for the store. It is called once.
func (c *Cluster) Leave(ctx context.Context) error {
	c.mu.Lock()
	c.end() // no task is taken up any more
	c.mu.Unlock()
	c.all.Wait()
	defer c.transport.CloseIdleConnections()
	if err := c.member.Leave(ctx); err != nil {
		return fmt.Errorf("leave the cluster: %w", err)
	}
	return nil
}
