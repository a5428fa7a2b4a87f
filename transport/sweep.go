package transport

import (
	"slices"
	"time"
)

// One timer a link looks after the deadlines of all its calls, and of the write
// under way. It is set when a call is due before whatever it is set for, and left alone when calls end: with
// a timer for each call, setting and stopping them, and waking the poller for
// those that were next, cost more than the rest of the call.

// sweepByLocked has the table looked at no later than due.
func (m *Mux) sweepByLocked(due, now time.Duration) {
	if due >= m.sweepAt {
		return
	}
	m.sweepAt = due
	if m.sweepTimer == nil {
		m.sweepTimer = time.AfterFunc(due-now, m.sweep)
	} else {
		m.sweepTimer.Reset(due - now)
	}
}

// sweepPause is the least time between two looks at a table of n calls, so that
// the looks stay cheap beside the calls. A few are looked at when they are due.
func sweepPause(n int) time.Duration {
	if n < 64 {
		return 0
	}
	return time.Duration(n) * time.Microsecond
}

// sweep ends the calls that are due, and tells of those that have waited for
// long. It runs on the timer's goroutine.
func (m *Mux) sweep() {
	type due struct {
		id      CallID
		stalled func() // nil where the call is over
	}
	var found []due
	m.mu.Lock()
	if m.end != nil {
		m.mu.Unlock()
		return
	}
	m.running.Add(1) // the link's end is told after what is told here
	defer m.running.Done()
	now := m.now()
	if m.writeBy <= now {
		m.mu.Unlock()
		m.fail(&LinkError{Cause: CauseOverload, Err: errWriteTimeout})
		return
	}
	next := m.writeBy
	for id, p := range m.pending {
		if p.deadline <= now {
			found = append(found, due{id: id})
			continue
		}
		if p.stallAt <= now {
			p.stallAt = never
			found = append(found, due{id, p.stalled})
		}
		next = min(next, p.deadline, p.stallAt)
	}
	m.sweepAt = never
	if next != never {
		m.sweepByLocked(max(next, now+sweepPause(len(m.pending))), now)
	}
	m.mu.Unlock()
	// In the order of their starts: a run that is replayed is the same again.
	slices.SortFunc(found, func(a, b due) int { return int(a.id - b.id) })
	for _, d := range found {
		if d.stalled != nil {
			d.stalled()
		} else if m.Cancel(d.id, ErrTimeout) {
			m.stats.CallsTimeout.Add(1)
		}
	}
}
