package transport

import "sync/atomic"

// Stats counts what links did. Any number of links may share one; reading is
// safe at any time. Everything counts up, and counting neither locks nor
// allocates.
type Stats struct {
	// Messages as they came, each in one of three kinds.
	EventsIn, EventBytesIn   atomic.Uint64
	RepliesIn, ReplyBytesIn  atomic.Uint64
	OthersIn, OtherBytesIn   atomic.Uint64 // too large, or nothing CDP knows
	MessagesOut, BytesOut    atomic.Uint64
	CallsStarted             atomic.Uint64 // Commands has those that have their outcome
	Commands                 CommandTimes
	CallsOverload, CallsLong atomic.Uint64 // never sent: too many waited, or too large

	EventsIgnored   atomic.Uint64 // no route wants the method: ended in the reader
	EventsDelivered atomic.Uint64
	EventsQueued    atomic.Uint64 // kept for a session that was not bound yet
	EventsShed      atomic.Uint64 // would have been queued, but the queue was full
	EventsUnknown   atomic.Uint64 // of a session that was never announced, or that is gone
	SessionsShed    atomic.Uint64 // announced, but too many waited to be bound

	RepliesLate    atomic.Uint64 // the call had its outcome already
	RepliesUnknown atomic.Uint64 // no such call was ever made
	ErrorsWithout  atomic.Uint64 // Chrome's errors without an id (C56)
	Oversized      atomic.Uint64 // messages over MaxMessage, discarded
	Garbage        atomic.Uint64 // frames that are not a JSON object
	Strange        atomic.Uint64 // JSON objects that are neither reply nor event

	CallsRefused atomic.Uint64 // never sent, for whatever reason
	CallsTimeout atomic.Uint64
	Pings        atomic.Uint64
	LinksOpened  atomic.Uint64
	LinksClosed  atomic.Uint64

	DialsQueued   atomic.Uint64 // had to wait for their turn; those that still do:
	DialsUnqueued atomic.Uint64 // less these

	DialsWithoutDescriptor, DialsWithoutPort, DialsWithoutBuffer atomic.Uint64 // failed for want of one
}

// Short is the counter of the dials that failed for want of it.
func (s *Stats) Short(of Shortage) *atomic.Uint64 {
	switch of {
	case ShortDescriptors:
		return &s.DialsWithoutDescriptor
	case ShortPorts:
		return &s.DialsWithoutPort
	}
	return &s.DialsWithoutBuffer
}

// MessagesIn is how many messages have come, of whatever kind.
func (s *Stats) MessagesIn() uint64 {
	return s.EventsIn.Load() + s.RepliesIn.Load() + s.OthersIn.Load()
}

// BytesIn is how long they were.
func (s *Stats) BytesIn() uint64 {
	return s.EventBytesIn.Load() + s.ReplyBytesIn.Load() + s.OtherBytesIn.Load()
}

// InFlight is how many calls have no outcome yet.
func (s *Stats) InFlight() uint64 {
	done := s.Commands.count() // first: a call is started before it is done
	return s.CallsStarted.Load() - done
}

// DialsWaiting is how many links wait for their turn to be dialled.
func (s *Stats) DialsWaiting() uint64 {
	gone := s.DialsUnqueued.Load() // first, as above
	return s.DialsQueued.Load() - gone
}

// Each calls f with the counters that have no metric of their own, always in
// the same order. The names are stable and fit for a metric's label.
func (s *Stats) Each(f func(name string, value uint64)) {
	f("events_ignored", s.EventsIgnored.Load())
	f("events_delivered", s.EventsDelivered.Load())
	f("events_unknown_session", s.EventsUnknown.Load())
	f("replies_late", s.RepliesLate.Load())
	f("replies_unknown", s.RepliesUnknown.Load())
	f("errors_without_id", s.ErrorsWithout.Load())
	f("garbage", s.Garbage.Load())
	f("strange", s.Strange.Load())
	f("calls_refused", s.CallsRefused.Load())
	f("calls_timeout", s.CallsTimeout.Load())
	f("pings", s.Pings.Load())
	f("links_opened", s.LinksOpened.Load())
	f("links_closed", s.LinksClosed.Load())
}
