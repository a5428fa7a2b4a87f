package sim

import (
	"flag"
	"runtime"
	"testing"
	"time"

	"holdfast/chaos/plan"
)

var soakFlag = flag.Duration("soak", 0, "how long TestSoak plays seed after seed")

// soakPlans are the kinds of plan that TestSoak plays in turn.
var soakPlans = []func(seed uint64, steps int) plan.Plan{
	plan.New, plan.NewBridged, plan.NewDoomed, plan.NewShared, plan.NewOutages, plan.NewClients,
}

// TestSoak plays new seeds of every kind of plan, one after the other, and reports what
// they leave behind in memory and goroutines. Without -soak it plays two old ones.
func TestSoak(t *testing.T) {
	const settle = 20 // runs after which pools and caches are what they will be
	began := time.Now()
	first := uint64(1)
	if *soakFlag > 0 {
		first = uint64(began.UnixNano())
	}
	var heap, goroutines slope
	n := uint64(0)
	for ; n < 2 || time.Since(began) < *soakFlag; n++ {
		p := soakPlans[n%uint64(len(soakPlans))](first+n, *stepsFlag)
		judge(t, p, play(t, p))
		if t.Failed() {
			return
		}
		if n < settle {
			continue
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		heap.add(float64(n), float64(m.HeapAlloc)/1024)
		goroutines.add(float64(n), float64(runtime.NumGoroutine()))
	}
	t.Logf("%d seeds in %s; heap %.0f KiB, %+.2f KiB a run; %.0f goroutines, %+.4f a run",
		n, time.Since(began).Round(time.Second), heap.last, heap.rise(), goroutines.last, goroutines.rise())
	// Hundreds of runs tell a trend from the noise of a heap.
	if heap.n > 200 && (heap.rise() > 4 || goroutines.rise() > 0.01) {
		t.Error("it grows")
	}
}

// slope is a line through points, by least squares.
type slope struct {
	n, x, y, xx, xy, last float64
}

func (s *slope) add(x, y float64) {
	s.n, s.x, s.y, s.xx, s.xy, s.last = s.n+1, s.x+x, s.y+y, s.xx+x*x, s.xy+x*y, y
}

func (s *slope) rise() float64 {
	d := s.n*s.xx - s.x*s.x
	if d == 0 {
		return 0
	}
	return (s.n*s.xy - s.x*s.y) / d
}
