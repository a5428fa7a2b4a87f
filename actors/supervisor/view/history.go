package view

import "holdfast/messages"

// The bounds of what a watcher that was away can catch up on. A page decides how long
// the texts in it are, so they are bounded in bytes as well; the newest event is kept
// however long it is.
const (
	maxEvents     = 512
	maxEventBytes = 256 << 10
	// Of a task that has ended, once those who watched it have had their time.
	maxEndedEvents     = 8
	maxEndedEventBytes = 4 << 10
)

// startEvents is about how many events a task has until it is active.
const startEvents = 16

// history is the newest events of a task, in a ring.
type history struct {
	ring    []record
	oldest  int    // in ring
	count   int    // of ring
	bytes   int    // of what is counted
	dropped uint64 // version of the newest event that is not there any more
}

// expect makes room for n more, as much as there is, for a task that idles.
func (h *history) expect(n int) {
	if all := h.count + n; all <= startEvents && all > len(h.ring) {
		h.resize(all)
	}
}

func (h *history) resize(n int) {
	ring := make([]record, n)
	for i := range h.count {
		ring[i] = *h.last(h.count - i)
	}
	h.ring, h.oldest = ring, 0
}

func (h *history) add(r record) {
	switch {
	case h.count < len(h.ring):
	case h.count < maxEvents:
		h.resize(min(max(2*h.count, startEvents), maxEvents))
	default:
		h.drop()
	}
	h.ring[(h.oldest+h.count)%len(h.ring)] = r
	h.count++
	h.bytes += r.size()
	h.shrink(maxEvents, maxEventBytes)
}

// shrink drops the oldest until both bounds hold.
func (h *history) shrink(events, bytes int) {
	for h.count > events || h.count > 1 && h.bytes > bytes {
		h.drop()
	}
}

func (h *history) drop() {
	r := &h.ring[h.oldest]
	h.dropped, h.bytes = r.version, h.bytes-r.size()
	*r = record{}
	h.oldest, h.count = (h.oldest+1)%len(h.ring), h.count-1
}

// end keeps what says how the task ended.
func (h *history) end() {
	h.shrink(maxEndedEvents, maxEndedEventBytes)
	h.resize(h.count)
}

// last is the n-th event from the end.
func (h *history) last(n int) *record { return &h.ring[(h.oldest+h.count-n)%len(h.ring)] }

// after are the events that are newer than version.
func (h *history) after(version uint64, id messages.TaskID) []messages.Event {
	newer := 0
	for newer < h.count && h.last(newer+1).version > version {
		newer++
	}
	events := make([]messages.Event, 0, newer)
	for ; newer > 0; newer-- {
		events = append(events, h.last(newer).event(id))
	}
	return events
}
