package transport

import (
	"bytes"
	"slices"

	"holdfast/internal/scan"
	"holdfast/messages"
)

// Bounds of the events kept for sessions that have no sink yet.
const (
	maxKeptEvents  = 256
	maxKeptBytes   = 1 << 20
	maxKeptTotal   = 16 << 20 // over all sessions of a link
	maxUnbound     = 4096     // sessions announced and not bound
	attachedEvent  = "Target.attachedToTarget"
	detachedEvent  = "Target.detachedFromTarget"
	eventOverheads = 64 // what an empty event costs in memory, about
)

// Event is something the browser said unasked.
type Event struct {
	SessionID messages.SessionID
	Method    string // one of DialOptions.Events
	Params    []byte // raw JSON in the read buffer: valid during the call only
}

// Sink takes a session's events: one call at a time, in the order of the wire,
// on the reader's goroutine (or within Bind for those that came before it). It
// must not block; it may call the Mux.
type Sink func(Event)

// Gathering is a sink that gathers events which come in one go.
type Gathering struct {
	Sink Sink
	// Settle is called where Sink is, once after one or more events: before any later
	// message is delivered, be it an event of another session, a reply or the link's end,
	// and before the reader waits. So no receiver can tell that the events were gathered.
	// It must not block; it may call the Mux.
	Settle func()
	// Unread, if not nil, is offered an event, as Chrome writes them, that has not been
	// scanned: its consumer scans it anyway, and need not wait until the reader has. Its
	// Params extend to the session's id, wherever they end: see [Whole]. If Unread returns
	// false, it has done nothing, and the event is read and given to Sink.
	Unread func(Event) bool
}

// route is where a session's events go. A session gets its route when an
// attachedToTarget event announces it, or when it is bound.
type route struct {
	id       messages.SessionID
	sink     Sink
	gatherer *gatherer     // nil where sink puts nothing off
	queue    []Event       // before there is a sink, and while Bind empties it
	bytes    int           // of queue
	flushing chan struct{} // not nil while a Bind hands out queue; closed after
	isGone   bool          // unbound or detached: a Bind under way stops
}

func (r *route) isFull() bool { return len(r.queue) >= maxKeptEvents || r.bytes >= maxKeptBytes }

// Bind sends the session's events to s, first those that came since it was
// announced. A second Bind replaces the sink.
func (m *Mux) Bind(session messages.SessionID, s Sink) { m.Gather(session, Gathering{Sink: s}) }

// Gather is Bind for a sink that gathers.
func (m *Mux) Gather(session messages.SessionID, g Gathering) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end != nil {
		return
	}
	r := m.routes[session]
	switch {
	case r == nil:
		r = &route{id: session}
		m.routes[session] = r
	case r.sink == nil:
		m.unbound--
	}
	r.sink, r.gatherer = g.Sink, nil
	if g.Settle != nil {
		r.gatherer = &gatherer{session, g.Settle, g.Unread}
	}
	if r.flushing != nil || len(r.queue) == 0 {
		return
	}
	r.flushing = make(chan struct{})
	defer func() {
		close(r.flushing)
		r.flushing = nil
	}()
	for len(r.queue) > 0 && !r.isGone && m.end == nil {
		kept, sink, gatherer := r.queue, r.sink, r.gatherer
		m.dropQueueLocked(r)
		m.flushLocked(kept, sink, gatherer)
	}
}

// flushLocked hands out kept events without the lock, which it takes again even where a
// sink panics: a panic ends the actor of that sink and nothing else.
func (m *Mux) flushLocked(kept []Event, sink Sink, g *gatherer) {
	m.mu.Unlock()
	defer m.mu.Lock()
	for _, e := range kept {
		m.stats.EventsDelivered.Add(1)
		sink(e)
	}
	if g != nil {
		g.settle()
	}
}

// Unbind forgets the session. One call of its sink may still be under way.
func (m *Mux) Unbind(session messages.SessionID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetLocked(session)
	if session == "" && m.end == nil {
		m.routes[""] = &route{}
		m.unbound++
	}
}

func (m *Mux) forgetLocked(session messages.SessionID) {
	r := m.routes[session]
	if r == nil {
		return
	}
	if r.sink == nil {
		m.unbound--
	}
	r.isGone = true
	m.dropQueueLocked(r)
	delete(m.routes, session)
}

func (m *Mux) dropQueueLocked(r *route) {
	m.keptBytes -= r.bytes
	r.queue, r.bytes = nil, 0
}

// handleEvent routes an event, and learns from it which sessions exist. Method is the
// wanted name that it has been found to begin with, if any.
func (m *Mux) handleEvent(e Envelope, method string) {
	if e.SessionID != nil && m.relaying.Load() && m.relay(rebuilt(e)) {
		return
	}
	wanted := method != "" && method == string(e.Method)
	if !wanted { // it was written in another way, or twice
		method, wanted = m.wants.find(e.Method)
	}
	switch string(e.Method) {
	case attachedEvent:
		m.announce(scan.Unquote(member(e.Params, "sessionId")))
	case detachedEvent:
		defer m.retire(scan.Unquote(member(e.Params, "sessionId")))
	}
	if !wanted {
		m.stats.EventsIgnored.Add(1)
		return
	}
	m.route(e.SessionID, method, e.Params)
}

// announce makes room for the events of a new session. Only sessions that the
// browser announces get any, so that a confused peer cannot fill the node.
func (m *Mux) announce(session []byte) {
	if len(session) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end != nil || m.routes[messages.SessionID(session)] != nil {
		return
	}
	if m.unbound >= maxUnbound {
		m.stats.SessionsShed.Add(1)
		return
	}
	id := messages.SessionID(session)
	m.routes[id] = &route{id: id}
	m.unbound++
}

// retire forgets a detached session that has no owner. A bound one is unbound by its owner.
func (m *Mux) retire(session []byte) {
	if len(session) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.routes[messages.SessionID(session)]; r != nil && r.sink == nil {
		m.forgetLocked(r.id)
	}
}

func (m *Mux) route(session []byte, method string, params []byte) {
	if g := m.gathering; g != nil && string(g.session) != string(session) {
		m.settle()
	}
	m.mu.Lock()
	r := m.routes[messages.SessionID(session)]
	for m.end == nil && r != nil && r.flushing != nil && r.isFull() {
		// A Bind on another goroutine is handing out what was kept. Sinks do
		// not block, so this is short; losing an event would be for ever.
		flushed := r.flushing
		m.mu.Unlock()
		<-flushed
		m.mu.Lock()
		r = m.routes[messages.SessionID(session)]
	}
	switch {
	case m.end != nil:
		m.mu.Unlock()
	case r == nil:
		m.mu.Unlock()
		m.stats.EventsUnknown.Add(1)
	case r.sink != nil && r.flushing == nil:
		e := Event{SessionID: r.id, Method: method, Params: params}
		sink, gatherer := r.sink, r.gatherer
		m.mu.Unlock()
		if m.gathering != gatherer { // the sink was another before
			m.settle()
			m.gathering = gatherer
		}
		m.stats.EventsDelivered.Add(1)
		sink(e)
	default:
		m.keepLocked(r, method, params)
		m.mu.Unlock()
	}
}

// gatherer is a sink that may have put something off.
type gatherer struct {
	session messages.SessionID
	settle  func()
	unread  func(Event) bool
}

// offer gives an event to a sink that takes it unread; false, and nothing is done,
// where there is none that does.
func (m *Mux) offer(msg []byte, method string) bool {
	params, session, ok := unread(msg, method)
	if !ok || method == attachedEvent || method == detachedEvent { // those tell of sessions
		return false
	}
	m.mu.Lock()
	r := m.routes[messages.SessionID(session)]
	if m.end != nil || r == nil || r.gatherer == nil || r.gatherer.unread == nil || r.flushing != nil {
		m.mu.Unlock()
		return false
	}
	e, g := Event{SessionID: r.id, Method: method, Params: params}, r.gatherer
	m.mu.Unlock()
	if m.gathering != g {
		m.settle()
	}
	if !g.unread(e) {
		return false
	}
	m.gathering = g
	m.stats.EventsDelivered.Add(1)
	return true
}

// settle has the sink that gathers do what it has put off.
func (m *Mux) settle() {
	if g := m.gathering; g != nil {
		m.gathering = nil
		g.settle()
	}
}

// keepLocked queues an event for a session that has no sink yet.
func (m *Mux) keepLocked(r *route, method string, params []byte) {
	size := len(params) + eventOverheads
	if len(r.queue) >= maxKeptEvents || r.bytes+size > maxKeptBytes || m.keptBytes+size > maxKeptTotal {
		m.stats.EventsShed.Add(1)
		return
	}
	r.queue = append(r.queue, Event{SessionID: r.id, Method: method, Params: bytes.Clone(params)})
	r.bytes += size
	m.keptBytes += size
	m.stats.EventsQueued.Add(1)
}

// methodSet is a sorted list of event names. A link has about twenty: a list
// is as fast as a map and a tenth of its size, and there are thousands of links.
type methodSet []string

// Names that are in order already are taken as they are: all links of a kind share
// them.
func newMethodSet(names []string) methodSet {
	if slices.IsSorted(names) {
		return names
	}
	s := methodSet(slices.Clone(names))
	slices.Sort(s)
	return slices.Compact(s)
}

// find returns the set's own string that equals name. It is written out since
// only a plain comparison takes string(name) without copying it.
func (s methodSet) find(name []byte) (string, bool) {
	low, high := 0, len(s)
	for low < high {
		mid := int(uint(low+high) >> 1)
		if s[mid] < string(name) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low < len(s) && s[low] == string(name) {
		return s[low], true
	}
	return "", false
}
