package apitest

import (
	"context"
	"net/http"
	"net/url"
	"sync/atomic"

	"holdfast/messages"
)

// Elsewhere is a task that another node of a [Cluster] has, which never answers.
const Elsewhere = messages.TaskID("elsewhere")

// Orphan is a task of a [Cluster] whose node has lost its lease.
const Orphan = messages.TaskID("orphan")

// Cluster is a cluster of one node.
type Cluster struct {
	// Lapsed has the error of a node that may decide nothing; nil while it may.
	Lapsed atomic.Pointer[messages.Error]
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
func (*Cluster) Place(id messages.TaskID) (node string, epoch uint64, ok bool) {
	if id == Elsewhere {
		return "b", 1<<40 + 2, true
	}
	return "a", 1<<40 + 1, id != Orphan
}

// IsOrphan implements api.Cluster.
func (*Cluster) IsOrphan(id messages.TaskID) bool { return id == Orphan }

// Lapse implements api.Cluster.
func (c *Cluster) Lapse() *messages.Error { return c.Lapsed.Load() }

// Forward implements api.Cluster.
func (*Cluster) Forward(http.ResponseWriter, *http.Request, string) error {
	return messages.Errorf(messages.CodeRehoming, "node b does not answer").With("retry_after_s", 1)
}

// Tasks implements api.Cluster.
func (*Cluster) Tasks(context.Context, http.Header, url.Values) []*messages.Snapshot { return nil }
