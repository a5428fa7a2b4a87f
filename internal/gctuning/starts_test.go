package gctuning_test

import (
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/internal/gctuning"
)

func gogc() uint64 {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// isGOGC is not parallel, like all tests here: there is one setting a process.
func isGOGC(t *testing.T, when string, want uint64) {
	t.Helper()
	if got := gogc(); got != want {
		t.Errorf("%s GOGC is %d, not %d", when, got, want)
	}
}

func begin(s *gctuning.Starts, n int) {
	for range n {
		s.Begin()
	}
}

func usual(t *testing.T) {
	t.Setenv("GOGC", "")
	was := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(was) })
}

func TestStarts(t *testing.T) {
	for name, run := range map[string]func(*testing.T){
		"a few change nothing, however many in all": func(t *testing.T) {
			var s gctuning.Starts
			for range 10 {
				begin(&s, 15)
				isGOGC(t, "after a few", 100)
				time.Sleep(3 * time.Second)
			}
		},
		"many do, until few come": func(t *testing.T) {
			var s gctuning.Starts
			for range 3 {
				begin(&s, 16)
				isGOGC(t, "after many", 16)
				time.Sleep(time.Second)
			}
			isGOGC(t, "within the lull after them", 16)
			time.Sleep(4 * time.Second)
			isGOGC(t, "after a lull", 100)
			begin(&s, 16)
			isGOGC(t, "after many more", 16)
			s.End()
			isGOGC(t, "at the end", 100)
		},
		"several nodes are one": func(t *testing.T) {
			var a, b gctuning.Starts
			begin(&a, 16)
			begin(&b, 16)
			a.End()
			a.End()
			isGOGC(t, "while one is left", 16)
			b.End()
			isGOGC(t, "after both", 100)
		},
		"what somebody has set stays": func(t *testing.T) {
			var s gctuning.Starts
			debug.SetGCPercent(60)
			begin(&s, 40)
			isGOGC(t, "with many", 60)
			s.End()
			debug.SetGCPercent(100)
			was := debug.SetMemoryLimit(1 << 40)
			begin(&s, 40)
			isGOGC(t, "under a limit", 100)
			debug.SetMemoryLimit(was)
			s.End()
			begin(&s, 40)
			debug.SetGCPercent(300)
			s.End()
			isGOGC(t, "set meanwhile", 300)
			debug.SetGCPercent(100)
			t.Setenv("GOGC", "100")
			begin(&s, 40)
			isGOGC(t, "with what is usual, said", 100)
			s.End()
		},
	} {
		t.Run(name, func(t *testing.T) {
			usual(t)
			synctest.Test(t, run)
		})
	}
}
