package registry

import (
	"testing"
	"time"
	"unsafe"
)

// What was refused in the last minute is counted by the monotonic clock.
func TestWindowCountsAcrossAStepOfTheWallClock(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{0, time.Hour, -time.Hour} {
		now := time.Now()
		w := &window{began: now}
		for i := range 10 {
			at := now.Add(time.Duration(i) * 10 * time.Second)
			if i >= 5 {
				at = stepped(t, at, step)
			}
			w.add(at)
		}
		if n := w.sum(stepped(t, now.Add(90*time.Second), step)); n != 6 {
			t.Errorf("%d in the last minute after a step of %v, not 6", n, step)
		}
	}
}

// stepped is now after a step of the wall clock: it has the same monotonic reading.
func stepped(t *testing.T, now time.Time, step time.Duration) time.Time {
	t.Helper()
	out := now
	*(*uint64)(unsafe.Pointer(&out)) += uint64(step/time.Second) << 30
	if out.Sub(now) != 0 || out.Round(0).Sub(now.Round(0)) != step {
		t.Fatal("time.Time is laid out in another way: write this helper anew")
	}
	return out
}
