package logs

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"
)

// limiter lets a kind of line pass once, and then once in a while. It knows the
// time from its callers alone. Safe for concurrent use.
type limiter struct {
	every time.Duration
	max   int // kinds that are remembered; the one that passed longest ago goes first
	hit   atomic.Pointer[func()]

	mu    sync.Mutex // protects what follows
	kinds map[uint64]*list.Element
	order *list.List // of *passed, by when
}

type passed struct {
	kind       uint64
	at         time.Time
	suppressed int
}

func newLimiter(every time.Duration, limit int) *limiter {
	return &limiter{every: every, max: limit, kinds: map[uint64]*list.Element{}, order: list.New()}
}

func (l *limiter) count() {
	if hit := l.hit.Load(); hit != nil {
		(*hit)()
	}
}

// allow says whether a line of this kind passes now, and if so how many have
// not since the last that did.
func (l *limiter) allow(now time.Time, kind uint64) (ok bool, suppressed int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.kinds[kind]; e != nil {
		p := e.Value.(*passed)
		// A clock that was set back silences no warning.
		if since := now.Sub(p.at); since >= 0 && since < l.every {
			p.suppressed++
			return false, 0
		}
		suppressed = p.suppressed
		p.at, p.suppressed = now, 0
		l.order.MoveToBack(e)
		return true, suppressed
	}
	if len(l.kinds) >= l.max {
		oldest := l.order.Front()
		delete(l.kinds, oldest.Value.(*passed).kind)
		l.order.Remove(oldest)
	}
	l.kinds[kind] = l.order.PushBack(&passed{kind: kind, at: now})
	return true, 0
}
