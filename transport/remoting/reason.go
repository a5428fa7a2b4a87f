package remoting

import (
	"errors"
	"sync/atomic"
)

// Reason says why a message was dropped, outbound, or refused, inbound.
type Reason string

// Why outbound messages are dropped.
const (
	BadMessage  Reason = "bad_message" // no valid message of protobuf
	TooLarge    Reason = "too_large"
	BadAddress  Reason = "bad_address"
	QueueFull   Reason = "queue_full"
	Stale       Reason = "stale"     // it has waited too long for its peer
	LinkLost    Reason = "link_lost" // the link broke while it was written: it may have arrived
	Stopped     Reason = "stopped"
	Unavailable Reason = "unavailable" // the link was not to be had in time
)

// Why inbound messages are refused.
const (
	BadEnvelope Reason = "bad_envelope" // counts, sizes or indexes that are out of bounds
	BadTarget   Reason = "bad_target"   // an actor that may not be reached
	BadType     Reason = "bad_type"     // a message that is not let in
	BadData     Reason = "bad_data"     // bytes that are no such message
	BadSender   Reason = "bad_sender"   // the message comes in without it
	Panicked    Reason = "panicked"
	BadLink     Reason = "bad_link" // no handshake, or too many links
)

// Error implements error.
func (r Reason) Error() string { return "remoting: message dropped: " + string(r) }

var errNoTarget = errors.New("remoting: a message without a target")

// IsInbound says whether it is of messages that come in.
func (r Reason) IsInbound() bool {
	switch r {
	case BadEnvelope, BadTarget, BadType, BadData, BadSender, Panicked, BadLink:
		return true
	}
	return false
}

// reasons are all of them, in the order of their counters.
var reasons = []Reason{
	BadMessage, TooLarge, BadAddress, QueueFull, Stale, LinkLost, Stopped, Unavailable,
	BadEnvelope, BadTarget, BadType, BadData, BadSender, Panicked, BadLink,
}

type counts struct {
	sent, received atomic.Uint64
	by             [15]atomic.Uint64
}

func (c *counts) drop(why Reason, n int) {
	for i, r := range reasons {
		if r == why {
			c.by[i].Add(uint64(n))
		}
	}
}

// Stats are what a Remoter has done, and what it has now.
type Stats struct {
	// Sent and Received count messages.
	Sent, Received uint64
	// Lost counts messages, by why they were dropped or refused. All reasons are there.
	Lost map[Reason]uint64
	// Peers are the processes that are written to, Links those that write.
	Peers, Links int
	// Queued is what waits for peers, in bytes.
	Queued int
}

// Stats returns them.
func (r *Remoter) Stats() Stats {
	s := Stats{Sent: r.counts.sent.Load(), Received: r.counts.received.Load(), Lost: map[Reason]uint64{}}
	for i, why := range reasons {
		s.Lost[why] = r.counts.by[i].Load()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Peers, s.Links, s.Queued = len(r.peers), len(r.links), r.queued
	return s
}
