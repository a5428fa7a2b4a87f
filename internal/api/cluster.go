package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/internal/gate"
	"holdfast/internal/token"
	"holdfast/messages"
)

// Cluster is what the HTTP layer needs of the cluster that the node is part of. Its methods
// are safe for concurrent use; those that take a context or a request wait.
type Cluster interface {
	// View is what this node knows of the cluster.
	View() messages.Cluster
	// Check is the part of the node's readiness that the cluster decides.
	Check() messages.Check
	// Node is the name of this node.
	Node() string
	// Place is the node that has a task, and the epoch; ok is false where none has it.
	Place(id messages.TaskID) (node string, epoch uint64, ok bool)
	// IsOrphan says whether the node that had a task has lost its lease, and may come back to it.
	IsOrphan(id messages.TaskID) bool
	// Await waits until a task is no longer between two nodes. Not is a node that has not
	// answered for it under an epoch, "" for none.
	Await(ctx context.Context, id messages.TaskID, not string, epoch uint64) error
	// Lapse is the error of a node that may decide nothing now, nil for one that may.
	Lapse() *messages.Error
	// Forward has another node answer a request. An error means that nothing was answered.
	Forward(w http.ResponseWriter, r *http.Request, node string) error
	// IsServed answers a request that only a node makes, and refuses one of another cluster or
	// of an older era; false where the request is a caller's, which that node passes on.
	IsServed(w http.ResponseWriter, r *http.Request) bool
	// Misdirected is the error of a request that was passed on to the wrong node, nil for any other.
	Misdirected(ctx context.Context, id messages.TaskID, epoch string) *messages.Error
	// Hold has a task stay at this node until release is called, or returns what is closed once a
	// hand-over of it has come to its end.
	Hold(id messages.TaskID) (release func(), moving <-chan struct{})
	// Forged counts a caller's request that claims to be a node's.
	Forged()
	// Snapshot streams a copy of the store.
	Snapshot(ctx context.Context) (io.ReadCloser, error)
	// Replace gives a voter's place to one without data.
	Replace(ctx context.Context, voter string) error
	// Recover makes this node's copy the whole store, and returns the new era.
	Recover(ctx context.Context) (uint32, error)
	// Cordon keeps new tasks from this node, or takes that back.
	Cordon(isCordoned bool) error
	// Empty keeps new tasks from this node, and gives those it has to others.
	Empty(ctx context.Context) (messages.ClusterMoves, error)
	// Rebalance gives tasks of this node to those on which they would be placed now.
	Rebalance(ctx context.Context) messages.ClusterMoves
	// Gather asks the other nodes for the same, and gives take each answer, on several
	// goroutines. It returns the nodes that did not answer.
	Gather(ctx context.Context, header http.Header, target url.URL, take func(node string, body io.Reader) error) (missing []string)
}

// Headers of requests between nodes. At the door for callers they are refused.
const (
	// hopHeader names the node that has let the request in.
	hopHeader = "Holdfast-Hop"
	// callerHeader says what the caller's token is good for.
	callerHeader = "Holdfast-Caller"
	// fromHeader is the caller's address.
	fromHeader = "Holdfast-From"
	// epochHeader is the epoch under which that node knows the task.
	epochHeader = "Holdfast-Epoch"
)

type hopKey struct{}

// Peers serves the requests that other nodes pass on. Only nodes of the cluster may reach it:
// what they say of a caller is believed.
func (h *Handler) Peers() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.cfg.Cluster != nil && h.cfg.Cluster.IsServed(w, r) {
			return
		}
		if from := r.Header.Get(fromHeader); from != "" {
			r.RemoteAddr = from
		}
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), hopKey{}, true)))
	})
}

// isHop says whether another node has passed the request on.
func (c *call) isHop() bool { return c.Context().Value(hopKey{}) != nil }

// checkHop refuses a caller that pretends to be a node.
func (c *call) checkHop() error {
	isNode := func(header string) bool { return c.Header.Get(header) != "" }
	if c.isHop() || !slices.ContainsFunc([]string{hopHeader, callerHeader, fromHeader, epochHeader}, isNode) {
		return nil
	}
	if c.handler.cfg.Cluster != nil {
		c.handler.cfg.Cluster.Forged()
	}
	stranger := c.handler.cfg.Gate.Stranger(c.Request, c.route.entrance())
	return stranger.Refuse(c.Context(), messages.Errorf(messages.CodeForbidden, "only nodes of the cluster may send this header"))
}

// authenticate finds out who asks: by the token, or by what another node says.
func (h *Handler) authenticate(c *call) (gate.Caller, error) {
	said := c.Header.Get(callerHeader)
	if !c.isHop() || said == "" {
		return h.cfg.Gate.Authenticate(c.Request, c.route.entrance())
	}
	scope, err := token.ParseScope(said)
	if err != nil {
		return h.cfg.Gate.Stranger(c.Request, c.route.entrance()), err
	}
	return h.cfg.Gate.Vouched(c.Request, c.route.entrance(), scope)
}

// elsewhere is the node that has the task of a request, "" where this node is to answer it.
func (h *Handler) elsewhere(c *call) string {
	if h.cfg.Cluster == nil || c.isHop() || c.id == "" {
		return ""
	}
	if node, _, ok := h.cfg.Cluster.Place(c.id); ok && node != h.cfg.Cluster.Node() {
		return node
	}
	return ""
}

// hasMoved says whether another node has the task of a request that this one has begun to answer.
func (h *Handler) hasMoved(c *call) bool {
	if h.cfg.Cluster == nil {
		return false
	}
	node, _, ok := h.cfg.Cluster.Place(c.id)
	return ok && node != h.cfg.Cluster.Node()
}

// isForOther says whether a ticket is another node's to look at: each is known to the node alone
// that has made it.
func (h *Handler) isForOther(c *call) bool {
	if h.cfg.Cluster == nil || !c.route.isCDP || !c.query.Has(gate.TicketParam) || c.Header.Get("Authorization") != "" {
		return false
	}
	id, err := messages.ParseTaskID(c.PathValue("id"))
	if err != nil {
		return false
	}
	c.id = id
	return h.elsewhere(c) != ""
}

// forwardOrServe has the node answer that has the task. Where that node does not answer, and has
// done nothing, the request waits for the next one, which may be this.
func (h *Handler) forwardOrServe(w http.ResponseWriter, c *call, node string) error {
	if err := c.keepBody(w); err != nil {
		return err
	}
	body := &countedBody{ReadCloser: c.Body}
	c.Body = body
	for {
		if c.kept != nil { // it can be read as often as there are nodes to try
			body = &countedBody{ReadCloser: io.NopCloser(bytes.NewReader(c.kept))}
			c.Body = body
		}
		_, epoch, _ := h.cfg.Cluster.Place(c.id)
		err := h.forward(w, c, node)
		own, ok := errors.AsType[*messages.Error](err)
		isHarmless := c.Method == http.MethodGet || c.Method == http.MethodHead
		if !ok || own.Code != messages.CodeRehoming || !isHarmless && own.Sent != messages.SentNo || c.kept == nil && body.isRead.Load() {
			return err
		}
		if h.cfg.Cluster.Await(c.Context(), c.id, node, epoch) != nil {
			return err
		}
		if node = h.elsewhere(c); node == "" {
			if c.kept != nil {
				c.Body = io.NopCloser(bytes.NewReader(c.kept))
			}
			if err := h.checkLease(c); err != nil {
				return err
			}
			return h.serveHere(w, c)
		}
	}
}

// serveHere answers a request on this node. One that was let past the gate for another node, which
// does not have the task any more, is asked here who it comes from.
func (h *Handler) serveHere(w http.ResponseWriter, c *call) error {
	if c.isUnasked {
		if err := h.identify(w, c); err != nil {
			return err
		}
		if err := c.caller.CheckTask(c.Context(), c.id); err != nil {
			return err
		}
		if err := h.checkLease(c); err != nil {
			return err
		}
	}
	if h.cfg.Cluster == nil || c.id == "" || c.route.isStream || c.route.isCDP {
		return c.route.serve(h, w, c)
	}
	return h.serveStaying(w, c)
}

// serveStaying answers a request of a task that stays here meanwhile. Where the task is just given to
// another node the request waits, and goes there.
func (h *Handler) serveStaying(w http.ResponseWriter, c *call) error {
	late := time.NewTimer(movingTime)
	defer late.Stop()
	if c.wasElsewhere { // and has come here since
		if err := h.checkLease(c); err != nil {
			return err
		}
	}
	for {
		release, moving := h.cfg.Cluster.Hold(c.id)
		if moving == nil {
			defer release()
			return c.route.serve(h, w, c)
		}
		select {
		case <-moving:
		case <-late.C:
			return messages.Errorf(messages.CodeRehoming, "task %s is still being given to another node", c.id).With("retry_after_s", 1).WithSent(messages.SentNo)
		case <-c.Context().Done():
			return c.Context().Err()
		}
		if err := h.checkLease(c); err != nil {
			return err
		}
		if node := h.elsewhere(c); node != "" {
			return h.forwardOrServe(w, c, node)
		}
	}
}

// movingTime is how long a request waits for a task that is being given away.
const movingTime = 10 * time.Second

// maxKeptBody bounds the bodies that are kept for another node, should the first not have the task
// any more.
const maxKeptBody = 64 << 10

// keepBody reads a small body, to be sent to more than one node.
func (c *call) keepBody(w http.ResponseWriter) error {
	if c.kept != nil || c.ContentLength < 0 || c.ContentLength > maxKeptBody || c.route.isCDP {
		return nil
	}
	b, err := io.ReadAll(&bodyReader{r: http.MaxBytesReader(w, c.Body, maxKeptBody), limit: maxKeptBody, call: c})
	if err != nil {
		return err
	}
	c.kept = b
	return nil
}

// countedBody notes whether anything of a request's body has been read: then no other node can be
// given it.
type countedBody struct {
	io.ReadCloser
	isRead atomic.Bool
}

// Read implements io.Reader.
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.isRead.Store(true)
	}
	return n, err
}

// forward has the node answer that has the task. A caller that was let in by a ticket has no
// scope here, and that node looks at the ticket.
func (h *Handler) forward(w http.ResponseWriter, c *call, node string) error {
	r := c.Clone(c.Context())
	h.vouch(r.Header, c)
	return h.cfg.Cluster.Forward(w, r, node)
}

// vouch says in a header who asks. The credential itself stays here.
func (h *Handler) vouch(header http.Header, c *call) {
	header.Set(hopHeader, h.cfg.Cluster.Node())
	header.Set(fromHeader, c.RemoteAddr)
	if _, epoch, ok := h.cfg.Cluster.Place(c.id); ok && c.id != "" {
		header.Set(epochHeader, strconv.FormatUint(epoch, 10))
	}
	if scope := c.caller.Scope(); scope != (token.Scope{}) {
		header.Set(callerHeader, scope.Text())
		header.Del("Authorization")
	}
}

// checkLease refuses what decides while the node has no lease; reads are answered. It refuses
// what asks for a task that is not here, and whose node may come back to it: only a start goes
// past that.
func (h *Handler) checkLease(c *call) error {
	if h.cfg.Cluster == nil || c.id == "" {
		return nil
	}
	if c.wasElsewhere = h.elsewhere(c) != ""; c.wasElsewhere {
		return nil
	}
	if c.isHop() {
		if err := h.cfg.Cluster.Misdirected(c.Context(), c.id, c.Header.Get(epochHeader)); err != nil {
			return err
		}
	}
	if _, err := h.cfg.Node.Snapshot(c.id, messages.SnapshotOptions{}); err != nil {
		awaited := h.cfg.Cluster.Await(c.Context(), c.id, "", 0)
		if awaited == nil && h.elsewhere(c) != "" {
			return nil
		}
		if awaited != nil && c.Method != http.MethodPut {
			return awaited
		}
	}
	if c.Method != http.MethodPut && h.cfg.Cluster.IsOrphan(c.id) {
		if _, err := h.cfg.Node.Snapshot(c.id, messages.SnapshotOptions{}); err != nil {
			return messages.Errorf(messages.CodeRehoming, "the node that had task %s has lost its lease; PUT starts the task anew", c.id).With("retry_after_s", 1).WithSent(messages.SentNo)
		}
	}
	if (c.Method == http.MethodGet || c.Method == http.MethodHead) && !c.route.isCDP {
		return nil
	}
	if err := h.cfg.Cluster.Lapse(); err != nil {
		return err
	}
	return nil
}

// placed adds to a snapshot of this node which node has the task.
func (h *Handler) placed(s *messages.Snapshot) *messages.Snapshot {
	if h.cfg.Cluster == nil {
		return s
	}
	out := *s
	out.Node = h.cfg.Cluster.Node()
	if node, epoch, ok := h.cfg.Cluster.Place(s.TaskID); ok && node == out.Node {
		out.Epoch = epoch
	}
	if h.cfg.Cluster.Lapse() != nil {
		out.Lease = messages.LeaseLapsed
	}
	return &out
}

// gather returns what the other nodes answer to the same request, and the nodes that do not
// answer: nothing where the caller asks for this node alone.
func gather[T any](h *Handler, c *call) (parts []T, missing []string) {
	if h.cfg.Cluster == nil || c.isHop() || c.query.Get("local") == "true" {
		return nil, nil
	}
	query := maps.Clone(c.query)
	query.Set("local", "true")
	header := http.Header{}
	h.vouch(header, c)
	var mu sync.Mutex
	missing = h.cfg.Cluster.Gather(c.Context(), header, url.URL{Path: c.URL.Path, RawQuery: query.Encode()}, func(_ string, body io.Reader) error {
		var part T
		if err := json.NewDecoder(body).Decode(&part); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		parts = append(parts, part)
		return nil
	})
	return parts, missing
}

// nodeName is the name of this node in its cluster, "" without one.
func (h *Handler) nodeName() string {
	if h.cfg.Cluster == nil {
		return ""
	}
	return h.cfg.Cluster.Node()
}

// showCluster shows the nodes; it names no task.
func (h *Handler) showCluster(w http.ResponseWriter, c *call) error {
	if h.cfg.Cluster == nil {
		return messages.Errorf(messages.CodeNotFound, "the node is part of no cluster")
	}
	h.reply(w, c, http.StatusOK, h.cfg.Cluster.View())
	return nil
}
