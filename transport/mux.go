package transport

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/messages"
)

// Bounds of one link. They are far above what a real page needs and far below
// what would hurt the node.
const (
	maxPending      = 16384    // calls without an outcome
	maxQueued       = 16384    // commands not yet written; a page of 500 frames attaches with 4,000
	maxQueuedBytes  = 64 << 20 // of those; room for one command of the largest size and some
	guestShare      = 8        // guests leave one part in so many of these bounds free
	maxID           = 1<<30 - 1
	untrackedIDBase = 1 << 30 // ids from here to 2^31-1 are of calls without a waiting caller (C56: Chrome takes an int32)
)

// Mux is one link to a browser: many calls and many sessions over one
// WebSocket, or over one client's part of a [Shared]. All methods are safe for concurrent use and none but Do waits.
type Mux struct {
	conn    connection
	browser string // see Browser; set before the Mux is returned
	opts    DialOptions
	stats   *Stats
	wants   methodSet
	born    time.Time
	heard   atomic.Int64 // when the peer last sent anything, since born
	ids     atomic.Uint32

	relaying atomic.Bool // relays is not empty

	gathering *gatherer // the reader's alone: whose events have not been settled

	running sync.WaitGroup // reader, writer and outcomes being told
	closed  chan struct{}

	idleTimer *time.Timer

	freeMu sync.Mutex // protects free
	free   []*waiter

	mu          sync.Mutex // protects what follows
	end         *LinkError // set once, before the outcomes of pending calls
	pending     map[CallID]*pending
	crowd       int           // the most there were in this table
	sweepTimer  *time.Timer   // made with the first call that needs it
	sweepAt     time.Duration // when it fires, since born; never where it does not
	writeBy     time.Duration // when the queue's writer is late, since born; never while there is none
	busyUntil   time.Duration // with long commands the peer may be, since born
	queue       lane          // of the supervisor's and the agents' commands: first
	guests      lane          // of commands of the gateway's clients
	queuedBytes int           // of both, with what is being written
	isWriting   bool          // a write is under way, or writing has ended for good
	isSuspected bool          // the idle timer is to ping, however long it is quiet
	routes      map[messages.SessionID]*route
	relays      map[messages.SessionID]Relayed // nil until the first
	unbound     int                            // routes without a sink
	keptBytes   int                            // of events queued for those
}

// NewMux opens a link over a Socket that is connected already and is the link's own from now
// on. Browser is what [Mux.Browser] returns.
func NewMux(s Socket, browser string, o DialOptions) *Mux {
	m := newMux(connection{Socket: s, taker: socketOf(nil), pong: pongTimeout}, o.withDefaults())
	m.browser = browser
	return m
}

// newMux starts a link on an open connection.
func newMux(conn connection, o DialOptions) *Mux {
	m := &Mux{
		conn:    conn,
		opts:    o,
		stats:   o.Stats,
		wants:   newMethodSet(o.Events),
		born:    time.Now(),
		closed:  make(chan struct{}),
		pending: make(map[CallID]*pending),
		sweepAt: never,
		writeBy: never,
		routes:  make(map[messages.SessionID]*route),
	}
	// Events of the browser's own session may come before its sink does.
	m.routes[""] = &route{}
	m.unbound = 1
	m.stats.LinksOpened.Add(1)
	m.running.Add(1) // the reader's
	m.mu.Lock()
	if o.KeepAlive > 0 {
		m.idleTimer = time.AfterFunc(o.KeepAlive, m.checkIdle)
	}
	m.mu.Unlock()
	go newReader(m).read()
	return m
}

// Browser tells the browser process at the other end from any other: the same
// text, the same process. It is "" where the address does not tell, and gives
// nothing of the address away.
func (m *Mux) Browser() string { return m.browser }

// Closed is closed when the link has ended, every call has its outcome and
// OnClose has returned.
func (m *Mux) Closed() <-chan struct{} { return m.closed }

// Err is the *[LinkError] that ended the link, nil while it is up. It is set
// before Closed is.
func (m *Mux) Err() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end == nil {
		return nil
	}
	return m.end
}

// Close ends the link with [CauseLocal]. It does not wait: see Closed.
func (m *Mux) Close() { m.fail(&LinkError{Cause: CauseLocal}) }

// Break ends the link the way a killed socket does: without a close frame, and with
// [CauseReset], so that the layers above cannot tell the difference. It does not wait: see
// Closed.
func (m *Mux) Break() {
	m.fail(&LinkError{Cause: CauseReset, Err: errors.New("the connection was broken on purpose")})
}

// Flood ends the link because its events come faster than they are heard, and
// one of them had to be dropped. It does not wait: see Closed.
func (m *Mux) Flood() { m.fail(&LinkError{Cause: CauseFlood}) }

// fail ends the link, once. It never blocks: closing a TLS connection may wait
// for a stalled peer, so that is done on a goroutine of its own.
func (m *Mux) fail(end *LinkError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end != nil {
		return
	}
	m.end = end
	left := m.pending
	m.pending = nil
	go m.teardown(end, left)
}

func (m *Mux) teardown(end *LinkError, left map[CallID]*pending) {
	// Outcomes first: they need not wait for the socket.
	for _, p := range left {
		m.stats.Commands.Add(p.method, m.now()-p.started, end)
		p.tell(Reply{Err: end, IsSent: p.isSent})
	}
	if end.Cause == CauseHalfOpen || end.Cause == CauseReset {
		m.conn.dropUnsent()
	}
	_ = m.conn.CloseNow()
	m.running.Wait()
	m.mu.Lock()
	if m.idleTimer != nil {
		m.idleTimer.Stop()
	}
	if m.sweepTimer != nil {
		m.sweepTimer.Stop()
	}
	m.queue, m.guests, m.queuedBytes = lane{}, lane{}, 0
	m.routes, m.relays, m.keptBytes = nil, nil, 0
	m.mu.Unlock()
	m.stats.LinksClosed.Add(1)
	if m.opts.OnClose != nil {
		m.opts.OnClose(end)
	}
	close(m.closed)
}

// Do makes a call and waits for its reply. When ctx ends first the call gets the outcome
// [ErrTimeout] or the context's own error, and a late reply is dropped; the link stays up.
func (m *Mux) Do(ctx context.Context, session messages.SessionID, method string, params []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, contextOutcome(ctx)
	}
	r := m.Await(ctx, Call{SessionID: session, Method: method, Params: params})
	return r.Result, r.Err
}

// Await makes a call and waits for its outcome, like Do. It takes the shortest
// way there is: the command is written on the caller's goroutine, unless that
// would have to wait. C.Done is not called.
func (m *Mux) Await(ctx context.Context, c Call) Reply {
	w := m.getWaiter()
	id := m.start(&c, w)
	var r Reply
	select {
	case r = <-w.reply:
	case <-ctx.Done():
		// The one that removes the call from the table tells the waiter, once: if it was
		// not Cancel, the reply is already being delivered.
		m.Cancel(id, contextOutcome(ctx))
		r = <-w.reply
	}
	m.putWaiter(w)
	return r
}

// waiter carries one reply at a time to an Await. A link keeps a few for reuse; a
// pool for all links would carry channels out of a testing/synctest bubble.
type waiter struct{ reply chan Reply }

const maxFreeWaiters = 4

func (m *Mux) getWaiter() *waiter {
	m.freeMu.Lock()
	defer m.freeMu.Unlock()
	if n := len(m.free); n > 0 {
		w := m.free[n-1]
		m.free = m.free[:n-1]
		return w
	}
	return &waiter{reply: make(chan Reply, 1)}
}

func (m *Mux) putWaiter(w *waiter) {
	m.freeMu.Lock()
	defer m.freeMu.Unlock()
	if len(m.free) < maxFreeWaiters {
		m.free = append(m.free, w)
	}
}

func contextOutcome(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ErrTimeout
	}
	return ctx.Err()
}
