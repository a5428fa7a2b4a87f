package member

import (
	"sync/atomic"
	"time"
)

// bounds are those of the buckets in which the store's answers are counted.
var bounds = [...]time.Duration{5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond}

// latency counts how long the store took for its answers. It is safe for concurrent use.
type latency struct {
	within [len(bounds)]atomic.Uint64 // of the bounds, each answer in the first that has room for it
	count  atomic.Uint64
	sum    atomic.Int64
}

func (l *latency) add(d time.Duration) {
	for i, bound := range bounds {
		if d <= bound {
			l.within[i].Add(1)
			break
		}
	}
	l.count.Add(1)
	l.sum.Add(int64(d))
}

// Latency is how long the store has taken for its answers.
type Latency struct {
	// Within counts the answers that took no longer than the bound, by the bound.
	Within map[time.Duration]uint64
	Count  uint64
	Sum    time.Duration
}

func (l *latency) read() Latency {
	out := Latency{Within: map[time.Duration]uint64{}, Count: l.count.Load(), Sum: time.Duration(l.sum.Load())}
	var n uint64
	for i, bound := range bounds {
		n += l.within[i].Load()
		out.Within[bound] = n
	}
	out.Count = max(out.Count, n) // one may be counted in between
	return out
}
