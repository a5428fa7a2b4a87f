package apitest

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"

	"holdfast/messages"
)

// Elsewhere is a task that another node of a [Cluster] has, which never answers.
const Elsewhere = messages.TaskID("elsewhere")

// Orphan is a task of a [Cluster] whose node has lost its lease.
const Orphan = messages.TaskID("orphan")

// Moving is a task that another node of a [Cluster] has, and that comes to this one as soon as that
// node has not answered.
const Moving = messages.TaskID("moving")

// Cluster is a cluster of one node.
type Cluster struct {
	// Lapsed has the error of a node that may decide nothing; nil while it may.
	Lapsed atomic.Pointer[messages.Error]
	// Other answers for node b what all nodes are asked for; nil where there is no such node.
	Other func(target url.URL) string
	// Cordoned is what Cordon was last told.
	Cordoned atomic.Bool
	// ForgedCount counts the calls of Forged.
	ForgedCount atomic.Int64

	hasMoved atomic.Bool
}

// View implements api.Cluster.
func (*Cluster) View() messages.Cluster {
	return messages.Cluster{Name: "test", Era: 1, HasQuorum: true, Nodes: []messages.ClusterNode{{
		Node: "a", State: messages.LeaseHeld, IsVoter: true, Term: 7, Places: 3, Version: "test",
		Addresses: messages.ClusterAddresses{HTTP: "http://127.0.0.1:7070", Peer: "127.0.0.1:7073"},
	}}}
}

// Check implements api.Cluster.
func (*Cluster) Check() messages.Check { return messages.Check{Name: "cluster", OK: true} }

// Node implements api.Cluster.
func (*Cluster) Node() string { return "a" }

// Place implements api.Cluster.
func (c *Cluster) Place(id messages.TaskID) (node string, epoch uint64, ok bool) {
	if id == Elsewhere || id == Moving && !c.hasMoved.Load() {
		return "b", 1<<40 + 2, true
	}
	return "a", 1<<40 + 1, id != Orphan
}

// IsOrphan implements api.Cluster.
func (*Cluster) IsOrphan(id messages.TaskID) bool { return id == Orphan }

// Lapse implements api.Cluster.
func (c *Cluster) Lapse() *messages.Error { return c.Lapsed.Load() }

// Forward implements api.Cluster.
func (c *Cluster) Forward(http.ResponseWriter, *http.Request, string) error {
	c.hasMoved.Store(true)
	return messages.Errorf(messages.CodeRehoming, "node b does not answer").With("retry_after_s", 1).WithSent(messages.SentNo)
}

// Gather implements api.Cluster: node b answers as Other does, and node x does not.
func (c *Cluster) Gather(_ context.Context, _ http.Header, target url.URL, take func(string, io.Reader) error) []string {
	if c.Other == nil {
		return nil
	}
	if err := take("b", strings.NewReader(c.Other(target))); err != nil {
		return []string{"b", "x"}
	}
	return []string{"x"}
}

// Await implements api.Cluster: a node that does not answer never does.
func (*Cluster) Await(_ context.Context, id messages.TaskID, not string, _ uint64) error {
	if not == "" || id == Moving {
		return nil
	}
	return messages.Errorf(messages.CodeRehoming, "node %s does not answer", not)
}

// IsServed implements api.Cluster.
func (*Cluster) IsServed(http.ResponseWriter, *http.Request) bool { return false }

// Misdirected implements api.Cluster.
func (c *Cluster) Misdirected(_ context.Context, id messages.TaskID, epoch string) *messages.Error {
	if node, known, ok := c.Place(id); ok && node != c.Node() || epoch != "" && epoch != strconv.FormatUint(known, 10) {
		return messages.Errorf(messages.CodeWrongCluster, "not here")
	}
	return nil
}

// Forged implements api.Cluster.
func (c *Cluster) Forged() { c.ForgedCount.Add(1) }

// Snapshot implements api.Cluster.
func (*Cluster) Snapshot(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("the store")), nil
}

// Replace implements api.Cluster.
func (*Cluster) Replace(context.Context, string) error { return nil }

// Recover implements api.Cluster.
func (*Cluster) Recover(context.Context) (uint32, error) { return 2, nil }

// Hold implements api.Cluster.
func (*Cluster) Hold(messages.TaskID) (func(), <-chan struct{}) { return func() {}, nil }

// Empty implements api.Cluster.
func (c *Cluster) Empty(context.Context) (messages.ClusterMoves, error) {
	return messages.ClusterMoves{Moved: 1, Staying: []messages.ClusterStay{{TaskID: "one", Why: "a dialog is open"}}}, c.Cordon(true)
}

// Rebalance implements api.Cluster.
func (*Cluster) Rebalance(context.Context) messages.ClusterMoves {
	return messages.ClusterMoves{Moved: 1, Staying: []messages.ClusterStay{}}
}

// Cordon implements api.Cluster.
func (c *Cluster) Cordon(isCordoned bool) error {
	c.Cordoned.Store(isCordoned)
	return nil
}
