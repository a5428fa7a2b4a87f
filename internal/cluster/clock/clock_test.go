package clock_test

import (
	"testing"
	"time"

	"holdfast/internal/cluster/clock"
)

// TestTheClockSinceBootMeasuresTime: two readings differ by what passed between them.
func TestTheClockSinceBootMeasuresTime(t *testing.T) {
	t.Parallel()
	outer := time.Now()
	a := clock.Now()
	inner := time.Now()
	for time.Since(inner) < 20*time.Millisecond {
	}
	least := time.Since(inner)
	b := clock.Now()
	most := time.Since(outer)
	// Both clocks may be slewed, by a thousandth at most.
	if d := b.Boot - a.Boot; d < least-time.Millisecond || d > most+time.Millisecond {
		t.Errorf("between %v and %v passed, and %v by the clock since boot", least, most, d)
	}
	if b.Wall == 0 {
		t.Error("there is no wall clock")
	}
}
