package registry

import (
	"math"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

var limitTexts = map[messages.LimitReason]string{
	messages.LimitTasks:         "the node runs as many tasks as it may",
	messages.LimitBrowsers:      "the node has launched as many browsers as it may",
	messages.LimitMemory:        "the node is short of memory",
	messages.LimitCPU:           "the node's processors are busy",
	messages.LimitQuota:         "the tenant has as many tasks that run or wait as it may",
	messages.LimitQueueFull:     "as many starts as may wait for a place already do",
	messages.LimitQueueDeadline: "no place came free in time",
	messages.LimitDraining:      "the node is about to stop and takes no new tasks",
}

// reject refuses a caller. For is what it would have had to wait for, where that
// is not the reason itself.
func (m *Machine) reject(now time.Time, to mail.Call, why, waitingFor messages.LimitReason) {
	err := messages.Errorf(messages.CodeLimitReached, "%s", limitTexts[why]).
		With("reason", why).With("running", len(m.tasks)).With("queued", len(m.queue)).
		With("retry_after_s", m.retryAfter(now, why))
	if waitingFor != "" {
		err = err.With("waiting_for", waitingFor)
	}
	switch limited := orReason(waitingFor, why); {
	case why == messages.LimitQueueFull:
		err = err.With("limit", m.limits.QueueLength)
	case why == messages.LimitQuota:
		err = err.With("limit", m.limits.MaxTenantTasks)
	case limited == messages.LimitTasks:
		err = err.With("limit", m.limits.MaxTasks)
	case limited == messages.LimitBrowsers:
		err = err.With("limit", m.limits.MaxBrowsers)
	case limited == messages.LimitMemory:
		err = err.With("limit", m.memory.high)
	case limited == messages.LimitCPU:
		err = err.With("limit", m.cpu.high)
	}
	m.do(Rejected{why})
	m.do(Answer{To: to, Err: err})
}

func orReason(a, b messages.LimitReason) messages.LimitReason {
	if a != "" {
		return a
	}
	return b
}

// The least and the most seconds that callers are told to wait before they ask again.
// blindRetry is for a refusal without a measure.
const (
	minRetry   = 1
	maxRetry   = 60
	blindRetry = 10
	// gateRetry is a few measurements of a resource.
	gateRetry = 5
)

// retryAfter estimates when it is worth asking again: by how fast places have
// come free lately, for as many as stand in the queue. A place in the queue itself
// comes free at the latest when the first of those who wait gives up.
func (m *Machine) retryAfter(now time.Time, why messages.LimitReason) int {
	var wait float64
	switch why {
	case messages.LimitDraining:
		return blindRetry
	case messages.LimitMemory, messages.LimitCPU:
		return gateRetry
	case messages.LimitQuota:
		wait = m.ends.interval(now, blindRetry) // the queue is not what is in the way
	case messages.LimitQueueFull:
		wait = m.ends.interval(now, blindRetry)
		if at := m.queue.deadline(); !at.IsZero() {
			wait = min(wait, at.Sub(now).Seconds())
		}
	default:
		wait = m.ends.interval(now, blindRetry) * float64(len(m.queue)+1)
	}
	return int(math.Ceil(min(max(wait, minRetry), maxRetry)))
}

// ends are the moments at which places came free lately, oldest first.
type ends []time.Time

const (
	maxEnds = 16
	endsAge = 5 * time.Minute
)

func (e *ends) add(now time.Time) {
	if *e = append(*e, now); len(*e) > maxEnds {
		*e = append((*e)[:0:0], (*e)[1:]...)
	}
}

// interval is the time between two of them, in seconds, up to now.
func (e ends) interval(now time.Time, unknown float64) float64 {
	for len(e) > 0 && now.Sub(e[0]) > endsAge {
		e = e[1:]
	}
	if len(e) == 0 {
		return unknown
	}
	return now.Sub(e[0]).Seconds() / float64(len(e))
}
