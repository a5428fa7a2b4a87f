package transport

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"sync"

	"holdfast/messages"
)

// RationLimits bound how many links are being dialled at once.
type RationLimits struct {
	Total    int // by the node
	Host     int // to one machine
	Endpoint int // to one port of it
}

// DefaultRation lets through what hides a handshake's latency and no more: a
// thousand tasks that lose their links together are back no later than with a
// thousand dials at a time (BenchmarkDrop in the root; the difference is lost
// in its noise), and no handshake runs into its budget because of the crowd. The limits stand
// apart so that a browser that swallows every dial leaves room for others on
// its machine, and a machine that does for other machines.
var DefaultRation = RationLimits{Total: 64, Host: 48, Endpoint: 16}

// Ration lets dials begin, first come first served, as far as limits allow:
// whoever cannot begin holds up nobody who can. Safe for concurrent use.
type Ration struct {
	limits RationLimits
	stats  *Stats

	mu      sync.Mutex // protects what follows
	dialing int
	busy    map[string]int // dials by host, and by host and port
	queue   []*applicant
}

// applicant waits for its turn.
type applicant struct {
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

// Wait returns when u may be dialled, or an [*messages.Error] when ctx ends
// before. Whoever got a turn calls done when the link stands or has failed,
// once.
func (r *Ration) Wait(ctx context.Context, u messages.CDPURL) (done func(), err error) {
	a := newApplicant(u)
	r.mu.Lock()
	if r.roomLocked(a) {
		r.beginLocked(a)
		r.mu.Unlock()
		return func() { r.end(a) }, nil
	}
	r.queue = append(r.queue, a)
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
		return nil, messages.Errorf(messages.CodeUpstreamUnavailable, "dialling was cancelled while it waited for its turn").With("sent", false)
	}
}

func newApplicant(u messages.CDPURL) *applicant {
	a := &applicant{turn: make(chan struct{})}
	if parsed, err := url.Parse(u.Reveal()); err == nil { // else the dialler will say what is wrong
		a.host, a.endpoint = parsed.Hostname(), net.JoinHostPort(parsed.Hostname(), parsed.Port())
	}
	return a
}

func (r *Ration) roomLocked(a *applicant) bool {
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
	for i, next := range r.queue {
		if r.roomLocked(next) {
			r.queue = append(r.queue[:i], r.queue[i+1:]...)
			r.beginLocked(next)
			close(next.turn)
			return
		}
	}
}

// leave says whether a was still waiting.
func (r *Ration) leave(a *applicant) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, other := range r.queue {
		if other == a {
			r.queue = append(r.queue[:i], r.queue[i+1:]...)
			return true
		}
	}
	return false
}
