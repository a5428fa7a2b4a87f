package transport

import "sync/atomic"

// Stats counts what links did. Any number of links may share one; reading is
// safe at any time. Everything counts up.
type Stats struct {
	MessagesIn, BytesIn   atomic.Uint64
	MessagesOut, BytesOut atomic.Uint64

	EventsIgnored   atomic.Uint64 // nobody asked for the method: ended in the reader
	EventsDelivered atomic.Uint64
	EventsQueued    atomic.Uint64 // kept for a session that was not bound yet
	EventsShed      atomic.Uint64 // would have been queued, but the queue was full
	EventsUnknown   atomic.Uint64 // of a session nobody announced, or that is gone

	RepliesLate    atomic.Uint64 // the call had its outcome already
	RepliesUnknown atomic.Uint64 // no such call was ever made
	ErrorsWithout  atomic.Uint64 // Chrome's errors without an id (C56)
	Oversized      atomic.Uint64 // messages over MaxMessage, discarded
	Garbage        atomic.Uint64 // frames that are not a JSON object
	Strange        atomic.Uint64 // JSON objects that are neither reply nor event

	CallsRefused atomic.Uint64 // overload, too large, malformed: never sent
	CallsTimeout atomic.Uint64
	Pings        atomic.Uint64
	LinksOpened  atomic.Uint64
	LinksClosed  atomic.Uint64

	DialsQueued   atomic.Uint64 // had to wait for their turn; those that still do:
	DialsUnqueued atomic.Uint64 // less these
}

// Each calls f with every counter, always in the same order. The names are
// stable and fit for a metric's label.
func (s *Stats) Each(f func(name string, value uint64)) {
	f("messages_in", s.MessagesIn.Load())
	f("bytes_in", s.BytesIn.Load())
	f("messages_out", s.MessagesOut.Load())
	f("bytes_out", s.BytesOut.Load())
	f("events_ignored", s.EventsIgnored.Load())
	f("events_delivered", s.EventsDelivered.Load())
	f("events_queued", s.EventsQueued.Load())
	f("events_shed", s.EventsShed.Load())
	f("events_unknown_session", s.EventsUnknown.Load())
	f("replies_late", s.RepliesLate.Load())
	f("replies_unknown", s.RepliesUnknown.Load())
	f("errors_without_id", s.ErrorsWithout.Load())
	f("oversized", s.Oversized.Load())
	f("garbage", s.Garbage.Load())
	f("strange", s.Strange.Load())
	f("calls_refused", s.CallsRefused.Load())
	f("calls_timeout", s.CallsTimeout.Load())
	f("pings", s.Pings.Load())
	f("links_opened", s.LinksOpened.Load())
	f("links_closed", s.LinksClosed.Load())
	f("dials_queued", s.DialsQueued.Load())
	f("dials_unqueued", s.DialsUnqueued.Load())
}
