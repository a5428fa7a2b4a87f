package transport

import (
	"bytes"
	"math"
	"sync"
	"time"

	"holdfast/messages"
)

// CallID names a call on its link. 0 is the id of a call that was refused.
type CallID int32

// Call is one CDP command.
type Call struct {
	SessionID messages.SessionID // "" is the browser's own session
	Method    string
	Params    []byte        // one JSON object, or nil; not kept
	Timeout   time.Duration // 0 is none
	// Done gets the outcome, exactly once: on the reader's goroutine, a timer's, that of a
	// Cancel, or within Start if the call is refused. It must not block. Nil means that no
	// caller waits: the call is not in Pending and its reply is dropped unread.
	Done func(Reply)
	// Succeeded is called with the result of a call that has one, where Done would
	// be, and returns the result to tell. It must not block. Nil changes nothing.
	Succeeded func(result []byte) []byte
	// Stalled is called once if there is no outcome StallAfter the start, on a
	// timer's goroutine. It must not block. Nil and 0 are none.
	Stalled    func()
	StallAfter time.Duration
	// IsUser marks an agent's call: Interrupt sees it.
	IsUser bool
	// IsPatient marks an agent's call that waits until a dialog is answered: Interrupt
	// tells it from others.
	IsPatient bool
	// IsDirect has the command written within Start, as Await does, unless that would have to
	// wait. It is for a call whose caller waits.
	IsDirect bool
	// IsGuest marks a command of one of the gateway's clients. Guests' commands keep their
	// order, wait for every other command, and leave room in the queue for others.
	IsGuest bool
}

// Reply is the outcome of a call.
type Reply struct {
	// Result is raw JSON and belongs to the receiver.
	Result []byte
	// Err is an [*RPCError], a [*LinkError], one of this package's sentinels,
	// or what Cancel or Interrupt was given.
	Err error
	// IsSent is false if the command certainly never reached the socket.
	IsSent bool
}

// PendingCall is a call without an outcome.
type PendingCall struct {
	ID        CallID
	Method    string
	Started   time.Time
	IsUser    bool
	IsPatient bool
}

// pending is a call in the table. The code that deletes it from the table tells its
// outcome, and no other code may.
type pending struct {
	session   messages.SessionID
	method    string
	started   time.Duration // since the link was born, like those that follow
	deadline  time.Duration
	stallAt   time.Duration
	stalled   func()
	through   func([]byte) []byte
	done      func(Reply)
	wait      *waiter
	isUser    bool
	isPatient bool
	isGuest   bool
	isSent    bool
}

// never is later than anything.
const never = time.Duration(math.MaxInt64)

// smallTable is how many calls the least table of Go's has room for.
const smallTable = 8

var pendings = sync.Pool{New: func() any { return new(pending) }}

// tell gives the call its outcome. p must not be used afterwards.
func (p *pending) tell(r Reply) {
	done, wait := p.done, p.wait
	if p.through != nil && r.Err == nil {
		r.Result = p.through(r.Result)
	}
	*p = pending{}
	pendings.Put(p)
	if wait != nil {
		wait.reply <- r // never blocks: room for one, told once
		return
	}
	done(r)
}

// Start sends a call. It never blocks. A call that cannot be sent gets its
// outcome before Start returns.
func (m *Mux) Start(c Call) CallID { return m.start(&c, nil) }

func (m *Mux) start(c *Call, w *waiter) CallID {
	tracked := w != nil || c.Done != nil
	switch {
	case c.Method == "", len(c.Params) > 0 && !isObject(c.Params), bytes.IndexByte(c.Params, 0) >= 0:
		return m.refuse(c, w, ErrInvalidCall)
	case len(c.Params)+len(c.Method)+len(c.SessionID)+64 > messages.MaxCDPMessage:
		return m.refuse(c, w, ErrTooLarge)
	}
	id := m.newID(tracked)
	cmd := commands.Get().(*command)
	cmd.encode(id, c)
	cmd.isTracked, cmd.isGuest = tracked, c.IsGuest
	cmd.needsPermission = m.opts.MayDecide != nil && c.needsPermission()
	var p *pending
	if tracked {
		p = pendings.Get().(*pending)
		*p = pending{
			session: c.SessionID, method: c.Method, started: m.now(), deadline: never, stallAt: never,
			stalled: c.Stalled, through: c.Succeeded, done: c.Done, wait: w, isUser: c.IsUser, isPatient: c.IsPatient, isGuest: c.IsGuest,
		}
		if c.Timeout > 0 {
			p.deadline = p.started + c.Timeout
		}
		if c.Stalled != nil && c.StallAfter > 0 {
			p.stallAt = p.started + c.StallAfter
		}
	}

	m.mu.Lock()
	if err := m.admitLocked(id, cmd); err != nil {
		m.mu.Unlock()
		cmd.release()
		return m.refuse(c, w, err)
	}
	if tracked {
		m.pending[id] = p
		m.crowd = max(m.crowd, len(m.pending))
		m.sweepByLocked(min(p.deadline, p.stallAt), p.started)
		m.stats.CallsStarted.Add(1)
	}
	if (w != nil || c.IsDirect) && !m.isWriting && len(cmd.buf) <= maxDirect {
		m.isWriting = true
		if tracked {
			p.isSent = true
		}
		m.mu.Unlock()
		m.writeDirectly(cmd)
		return id
	}
	m.enqueueLocked(cmd)
	m.mu.Unlock()
	return id
}

// refuse gives a call that is not sent its outcome.
func (m *Mux) refuse(c *Call, w *waiter, err error) CallID {
	m.stats.CallsRefused.Add(1)
	switch err { //nolint:errorlint // our own, as they are
	case ErrOverloaded:
		m.stats.CallsOverload.Add(1)
	case ErrTooLarge:
		m.stats.CallsLong.Add(1)
	}
	switch {
	case w != nil:
		w.reply <- Reply{Err: err}
	case c.Done != nil:
		c.Done(Reply{Err: err})
	}
	return 0
}

// newID counts within the range for the kind of call and starts over at its
// end.
func (m *Mux) newID(tracked bool) CallID {
	n := m.ids.Add(1) & maxID
	if !tracked {
		return CallID(untrackedIDBase | n)
	}
	if n == 0 {
		return m.newID(tracked)
	}
	return CallID(n)
}

func (m *Mux) admitLocked(id CallID, cmd *command) error {
	if m.end != nil {
		return m.end
	}
	room := func(bound int) int {
		if cmd.isGuest {
			return bound - bound/guestShare
		}
		return bound
	}
	if len(m.pending) >= room(maxPending) || m.queuedLocked() >= room(maxQueued) || m.queuedBytes+len(cmd.buf) > room(maxQueuedBytes) {
		return ErrOverloaded
	}
	if _, taken := m.pending[id]; taken {
		return ErrOverloaded // a billion calls later, and the first still waits
	}
	return nil
}

// complete gives a call its outcome if it has none yet, and says whether. IsGuest says whose call it
// was.
func (m *Mux) complete(id CallID, r Reply) (isGuest, ok bool) {
	m.mu.Lock()
	p, ok := m.pending[id]
	if !ok {
		m.mu.Unlock()
		return false, false
	}
	if delete(m.pending, id); len(m.pending) == 0 && m.crowd > smallTable {
		// The room for an attach's commands is not kept for as long as the link lives.
		m.pending, m.crowd = make(map[CallID]*pending), 0
	}
	// The table is there, so the link has not ended: the teardown will wait
	// for this outcome before it tells its own.
	m.running.Add(1)
	defer m.running.Done()
	m.mu.Unlock()
	r.IsSent = p.isSent
	m.stats.Commands.Add(p.method, m.now()-p.started, r.Err)
	isGuest = p.isGuest
	p.tell(r)
	return isGuest, true
}

// Cancel gives a call the outcome err, and says whether it had none before. A
// command that was not yet written never will be.
func (m *Mux) Cancel(id CallID, err error) bool {
	_, ok := m.complete(id, Reply{Err: err})
	return ok
}

// Interrupt gives the outcome err to every call of an agent on the session
// that match accepts, and returns how many. Match is called without a lock;
// age counts from Start.
func (m *Mux) Interrupt(session messages.SessionID, err error, match func(c PendingCall, age time.Duration) bool) int {
	now, n := time.Now(), 0
	for _, p := range m.Pending(session) {
		if p.IsUser && match(p, now.Sub(p.Started)) && m.Cancel(p.ID, err) {
			n++
		}
	}
	return n
}

// Abandon gives the outcome err to every call on a session that is gone, and
// returns how many: Chrome leaves them unanswered, and they would be kept for as
// long as the link lives.
func (m *Mux) Abandon(session messages.SessionID, err error) (n int) {
	for _, p := range m.Pending(session) {
		if m.Cancel(p.ID, err) {
			n++
		}
	}
	return n
}

// Pending lists the calls of a session that wait for a reply, in no order.
func (m *Mux) Pending(session messages.SessionID) []PendingCall {
	m.mu.Lock()
	defer m.mu.Unlock()
	var calls []PendingCall
	for id, p := range m.pending {
		if p.session == session {
			calls = append(calls, PendingCall{ID: id, Method: p.method, Started: m.born.Add(p.started), IsUser: p.isUser, IsPatient: p.isPatient})
		}
	}
	return calls
}

// handleReply matches a reply to its call. IsGuest says that this was a guest's.
func (m *Mux) handleReply(e Envelope) (isGuest bool) {
	if e.ID < 0 || e.ID > untrackedIDBase|maxID {
		m.stats.RepliesUnknown.Add(1)
		return false
	}
	if e.ID >= untrackedIDBase {
		return false
	}
	var r Reply
	switch {
	case e.Error != nil && !bytes.Equal(e.Error, []byte("null")):
		r.Err = newRPCError(e.Error)
	case e.Result == nil:
		r.Result = []byte("{}")
	default:
		r.Result = bytes.Clone(e.Result)
	}
	return m.finish(e.ID, r)
}

// finish completes the call of a reply, or counts the reply. IsGuest says that the call was a guest's.
func (m *Mux) finish(id int64, r Reply) (isGuest bool) {
	isGuest, ok := m.complete(CallID(id), r)
	if ok {
		return isGuest
	}
	if id <= int64(m.ids.Load()&maxID) {
		m.stats.RepliesLate.Add(1)
	} else {
		m.stats.RepliesUnknown.Add(1)
	}
	return false
}
