package transport

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"slices"
	"sync"

	"holdfast/messages"
)

// RationLimits bound how many links are being dialled at once.
type RationLimits struct {
	Total    int // by the node
	Host     int // to one machine
	Endpoint int // to one port of it
}

// DefaultRation lets through what hides a handshake's latency and no more. A
// thousand tasks that lose their links together are back in two thirds of the
// time they take when all of them dial at a time (make bench BENCH=stampede, two
// processors): links that stand are attached to before others are begun, and no
// handshake runs into its budget because of the crowd. The limits stand apart so
// that a browser that swallows every dial leaves room for others on its machine,
// and a machine that does for other machines.
var DefaultRation = RationLimits{Total: 64, Host: 48, Endpoint: 16}

// Ration lets dials begin as far as limits allow: a dial that cannot begin never delays one
// that can. Of those that can, primaries come before anchors, since a task works with a
// primary alone; within a role it is first come, first served. Safe for concurrent use.
type Ration struct {
	limits RationLimits
	stats  *Stats

	mu      sync.Mutex // protects what follows
	dialing int
	busy    map[string]int // dials by host, and by host and port
	queues  [messages.Roles][]*applicant
	passed  int // primaries that have gone before an anchor, in a row
}

// anchorTurn is how many primaries may go before an anchor that could begin: a
// node whose primaries never stop dialling leaves its anchors some of the ration.
const anchorTurn = 16

// applicant waits for its turn.
type applicant struct {
	role           messages.Role
	host, endpoint string
	turn           chan struct{} // closed when it has come
}

// NewRation returns a ration that counts who waits in stats. What is zero of
// limits is as in [DefaultRation].
func NewRation(limits RationLimits, stats *Stats) *Ration {
	limits.Total = cmp.Or(limits.Total, DefaultRation.Total)
	limits.Host = cmp.Or(limits.Host, DefaultRation.Host)
	limits.Endpoint = cmp.Or(limits.Endpoint, DefaultRation.Endpoint)
	return &Ration{limits: limits, stats: stats, busy: map[string]int{}}
}

// Wait returns when a link of that role may be opened, or an [*messages.Error] when ctx
// ends before. A caller that got a turn calls done once, when the link stands or has
// failed.
func (r *Ration) Wait(ctx context.Context, role messages.Role, at Address) (done func(), err error) {
	a := newApplicant(role, at)
	r.mu.Lock()
	if r.hasRoomLocked(a) {
		r.beginLocked(a)
		r.mu.Unlock()
		return func() { r.end(a) }, nil
	}
	r.queues[role] = append(r.queues[role], a)
	r.mu.Unlock()
	r.stats.DialsQueued.Add(1)
	defer r.stats.DialsUnqueued.Add(1)
	select {
	case <-a.turn:
		return func() { r.end(a) }, nil
	case <-ctx.Done():
		if !r.leave(a) {
			r.end(a) // its turn came meanwhile: for the next
		}
		return nil, messages.Errorf(messages.CodeUpstreamUnavailable, "dialling was cancelled while it waited for its turn").WithSent(messages.SentNo)
	}
}

func newApplicant(role messages.Role, at Address) *applicant {
	a := &applicant{role: role, turn: make(chan struct{})}
	if at.Pipe != nil {
		a.host = "pipe " + at.Pipe.mark // each is a place of its own
		a.endpoint = a.host + " links"
	} else if parsed, err := url.Parse(at.URL.Reveal()); err == nil { // else the dialler will say what is wrong
		a.host, a.endpoint = parsed.Hostname(), net.JoinHostPort(parsed.Hostname(), parsed.Port())
	}
	return a
}

func (r *Ration) hasRoomLocked(a *applicant) bool {
	return r.dialing < r.limits.Total && r.busy[a.host] < r.limits.Host && r.busy[a.endpoint] < r.limits.Endpoint
}

func (r *Ration) beginLocked(a *applicant) {
	r.dialing++
	r.busy[a.host]++
	r.busy[a.endpoint]++
}

func (r *Ration) end(a *applicant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dialing--
	for _, key := range []string{a.host, a.endpoint} {
		if r.busy[key]--; r.busy[key] == 0 {
			delete(r.busy, key)
		}
	}
	// One has ended, so at most one can begin: the first for whom there is room.
	role, i := messages.RolePrimary, r.firstLocked(messages.RolePrimary)
	if i < 0 || r.passed >= anchorTurn {
		if k := r.firstLocked(messages.RoleAnchor); k >= 0 {
			role, i = messages.RoleAnchor, k
		}
	}
	if i < 0 {
		return
	}
	r.passed++
	if role == messages.RoleAnchor || len(r.queues[messages.RoleAnchor]) == 0 {
		r.passed = 0
	}
	next := r.queues[role][i]
	r.queues[role] = slices.Delete(r.queues[role], i, i+1)
	r.beginLocked(next)
	close(next.turn)
}

// firstLocked is the place in its queue of the first one of that role who could
// begin, or -1.
func (r *Ration) firstLocked(role messages.Role) int {
	return slices.IndexFunc(r.queues[role], r.hasRoomLocked)
}

// leave says whether a was still waiting.
func (r *Ration) leave(a *applicant) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.queues[a.role], a)
	if i >= 0 {
		r.queues[a.role] = slices.Delete(r.queues[a.role], i, i+1)
	}
	return i >= 0
}
