package registry

import (
	"sync"
	"sync/atomic"
	"time"

	"holdfast/messages"
)

// Gauge is where a node's status is read, without a message to its registry.
// Safe for concurrent use.
type Gauge struct {
	status atomic.Pointer[Status]

	mu       sync.Mutex
	rejected map[messages.LimitReason]*window
}

// Status returns the newest status; before the registry runs it is empty.
func (g *Gauge) Status() Status {
	if s := g.status.Load(); s != nil {
		return *s
	}
	return Status{}
}

// Pressure returns the same as callers see it.
func (g *Gauge) Pressure(now time.Time) messages.Pressure {
	s := g.Status()
	p := messages.Pressure{
		Available: s.Lacks == "", Reason: s.Lacks, RetryAfterS: s.RetryAfter, Draining: s.IsDraining,
		Running: s.Running, Browsers: s.Browsers, Queued: s.Queued,
		RejectedLastMinute: map[messages.LimitReason]uint64{},
		Limits: messages.PressureLimits{
			Tasks: s.Limits.MaxTasks, TenantTasks: max(s.Limits.MaxTenantTasks, 0), Browsers: s.Limits.MaxBrowsers,
			QueueLength: max(s.Limits.QueueLength, 0), QueueTimeoutS: s.Limits.QueueTimeout.Seconds(),
			IdleTimeoutS: s.Limits.IdleTimeout.Seconds(), MaxLifeS: s.Limits.MaxLife.Seconds(),
			GiveUpAfterS: s.Limits.GiveUpAfter.Seconds(),
		},
		Memory: s.Memory, CPU: s.CPU,
	}
	if !s.Oldest.IsZero() {
		p.OldestWaitS = max(now.Sub(s.Oldest).Seconds(), 0)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range messages.LimitReasons() {
		p.RejectedLastMinute[r] = g.rejected[r].sum(now)
	}
	return p
}

func (g *Gauge) show(s Status) {
	if old := g.status.Load(); old == nil || *old != s {
		g.status.Store(&s)
	}
}

func (g *Gauge) reject(now time.Time, why messages.LimitReason) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rejected == nil {
		g.rejected = map[messages.LimitReason]*window{}
	}
	w := g.rejected[why]
	if w == nil {
		w = &window{began: now}
		g.rejected[why] = w
	}
	w.add(now)
}

// window counts what happened in each of the last sixty seconds. It tells seconds by
// the monotonic clock: a step of the wall clock changes no count.
type window struct {
	began time.Time
	slots [60]struct {
		second int64 // since began
		count  uint64
	}
}

func (w *window) add(now time.Time) {
	second := w.second(now)
	slot := &w.slots[second%int64(len(w.slots))]
	if slot.second != second {
		slot.second, slot.count = second, 0
	}
	slot.count++
}

func (w *window) second(now time.Time) int64 { return max(int64(now.Sub(w.began)/time.Second), 0) }

func (w *window) sum(now time.Time) (n uint64) {
	if w == nil {
		return 0
	}
	for _, slot := range w.slots {
		if age := w.second(now) - slot.second; age >= 0 && age < int64(len(w.slots)) {
			n += slot.count
		}
	}
	return n
}
