package tools

import (
	"strconv"
	"strings"
	"time"

	"holdfast/internal/tools/outline"
	"holdfast/messages"
)

// The bounds of what is remembered of a task's snapshots.
const (
	maxRefs      = 20_000
	maxSeenTabs  = 16
	maxSeenChars = 1 << 20
)

// place is the document of a frame, as long as it is there.
type place struct {
	target messages.TargetID
	// session is the out-of-process frame whose CDP session the frame is reached by; "" is the
	// page's own.
	session messages.FrameID
	frame   messages.FrameID
	loader  string
}

// ref is one element that a snapshot gave a number.
type ref struct {
	place
	backend    int64
	role, name string
}

type refKey struct {
	place
	backend int64
}

// refs are the numbers of a task's elements. A number is never used twice; beyond the bound the
// oldest are forgotten.
type refs struct {
	last, oldest int
	of           map[int]ref
	number       map[refKey]int
}

// give returns the number of an element; one that had a number keeps it.
func (r *refs) give(p place, backend int64, role, name string) int {
	key := refKey{p, backend}
	if n, ok := r.number[key]; ok {
		r.of[n] = ref{p, backend, role, name}
		return n
	}
	if r.of == nil {
		r.of, r.number = map[int]ref{}, map[refKey]int{}
	}
	r.last++
	r.of[r.last], r.number[key] = ref{p, backend, role, name}, r.last
	for len(r.of) > maxRefs {
		r.oldest++
		if old, ok := r.of[r.oldest]; ok {
			delete(r.of, r.oldest)
			delete(r.number, refKey{old.place, old.backend})
		}
	}
	return r.last
}

// ref returns the element of a number as it is written: e12.
func (m *memory) ref(text string) (ref, bool) {
	text = strings.Trim(text, "[] ")
	n, err := strconv.Atoi(strings.TrimPrefix(text, "e"))
	if err != nil || !strings.HasPrefix(text, "e") {
		return ref{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.refs.of[n]
	return found, ok
}

// seen is the last outline of a tab.
type seen struct {
	frame   string // what the outline was asked for
	outline *outline.Outline
	at      time.Time
}

// look remembers the outline of a tab, and returns the one before.
func (m *memory) look(t messages.TargetID, now seen) (before seen) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before = m.seen[t]
	for other := range m.seen {
		if len(m.seen) < maxSeenTabs || before.outline != nil {
			break
		}
		delete(m.seen, other)
	}
	m.seen[t] = now
	return before
}

// lookBack returns the last outline of a tab.
func (m *memory) lookBack(t messages.TargetID) (seen, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.seen[t]
	return s, ok
}
