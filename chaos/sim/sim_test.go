package sim

import (
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"holdfast/chaos/plan"
)

var (
	seedFlag   = flag.Uint64("seed", 0, "the one seed that TestSeed plays")
	seedsFlag  = flag.Uint64("seeds", 25, "how many seeds TestSeeds plays")
	stepsFlag  = flag.Int("steps", plan.DefaultSteps, "how many steps a plan has")
	bridgeFlag = flag.Bool("bridge", false, "have TestSeed and TestSoak play their seeds with tasks on the bridge")
	// Not of the seed: what the scheduler may decide, it decides otherwise each time.
	jitterFlag = flag.Int("jitter", 0, "how often an actor yields at most before each message, at random")
	showFlag   = flag.Bool("show", false, "write the trace of TestSeed also when it passes")
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// result is what came of a run.
type result struct {
	trace      *trace
	violations []string
	recoveries []time.Duration
	panics     int
}

// play carries out the plan of a seed in a bubble of its own.
func play(t *testing.T, p plan.Plan) result {
	t.Helper()
	var w *world
	var tr *trace
	defer func() {
		// A bubble that cannot end says so by a panic: goroutines are left.
		if r := recover(); r != nil {
			if tr != nil {
				t.Logf("%s", tr)
			}
			t.Errorf("%s: the bubble did not end: %v", replay(p), r)
			panic(r)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		tr = newTrace()
		w = newWorld(t, p, tr)
		w.run()
		w.close()
	})
	broken, _ := w.breaker.count()
	return result{tr, w.violations, w.recoveries, broken}
}

// replay is the command that plays a seed again, up to the step that failed.
func replay(p plan.Plan) string {
	bridge := ""
	if p.Bridged() {
		bridge = " -bridge"
	}
	return fmt.Sprintf("go test ./chaos/sim -run '^TestSeed$' -seed %#x -steps %d%s", p.Seed, len(p.Steps), bridge)
}

// judge fails the test for what a run has violated.
func judge(t *testing.T, p plan.Plan, r result) {
	t.Helper()
	if len(r.violations) == 0 {
		return
	}
	p.Steps = p.Steps[:min(len(p.Steps), r.trace.step)]
	t.Logf("trace of seed %#x, %d tasks:\n%s", p.Seed, len(p.Tasks), r.trace)
	t.Errorf("%s\n%s", r.violations[0], replay(p))
}

// planOf is the plan of a seed, as -bridge has it.
func planOf(seed uint64) plan.Plan {
	if *bridgeFlag {
		return plan.NewBridged(seed, *stepsFlag)
	}
	return plan.New(seed, *stepsFlag)
}

// TestSeed plays the seed that -seed names.
func TestSeed(t *testing.T) {
	p := planOf(*seedFlag)
	r := play(t, p)
	judge(t, p, r)
	if *showFlag && !t.Failed() {
		t.Logf("%s\nhash %s", r.trace, r.trace.sum())
	}
}

// TestSeeds plays the first seeds, and those that have failed once.
func TestSeeds(t *testing.T) {
	t.Parallel()
	seeds(t, regressions, *seedsFlag, plan.New)
}

// TestBridgedSeeds plays seeds with tasks on the bridge.
func TestBridgedSeeds(t *testing.T) {
	t.Parallel()
	seeds(t, bridgedRegressions, *seedsFlag*2/5, plan.NewBridged)
}

func seeds(t *testing.T, seeds []uint64, first uint64, newPlan func(seed uint64, steps int) plan.Plan) {
	t.Helper()
	seeds = slices.Clone(seeds)
	for s := range first {
		seeds = append(seeds, s+1)
	}
	var mu sync.Mutex
	var recoveries []time.Duration
	panics := 0
	t.Run("seeds", func(t *testing.T) {
		for _, seed := range seeds {
			t.Run(fmt.Sprintf("%#x", seed), func(t *testing.T) {
				t.Parallel()
				p := newPlan(seed, *stepsFlag)
				r := play(t, p)
				judge(t, p, r)
				mu.Lock()
				defer mu.Unlock()
				recoveries = append(recoveries, r.recoveries...)
				panics += r.panics
			})
		}
	})
	if len(recoveries) == 0 {
		return
	}
	slices.Sort(recoveries)
	at := func(q float64) time.Duration {
		return recoveries[min(len(recoveries)-1, int(q*float64(len(recoveries))))]
	}
	t.Logf("%d seeds of %d steps, %d actors broken; recovery after the last fault, %d times: p50 %s, p99 %s, max %s (virtual)",
		len(seeds), *stepsFlag, panics, len(recoveries), at(0.5), at(0.99), recoveries[len(recoveries)-1])
	if p99 := at(0.99); p99 > recoveryP99 {
		t.Errorf("recovery p99 %s, want at most %s", p99, recoveryP99)
	}
}

// regressions are seeds that have found something; see chaos/README.md.
var regressions = []uint64{0x1b, 0x1f, 0x2b, 0x3a, 0x85, 0xa1, 0xaf, 0xc6, 0xd1, 0xd5, 0x127, 0x134, 0x159, 0x1c4, 0x21a, 0x18e9fdf133350c94, 0x18ea03ed9dc696a0, 0x18ea04db3bfcffad, 0x18ea0578c5e9902e, 0x18ea05cbaeac1598, 0x18ea05d0d571d4e4, 0x18ea05d57fd100df, 0x18ea05d79da1fdda, 0x18ea05813e519429, 0x18ea05da1aab91ad, 0x18ea05d605e6426a, 0x18ea07464cf11bed, 0x18ea0766b6b81fb0, 0x18ea078c2ac1f4d7, 0x18ea07b5018a1026, 0x18ea0bca97467ef6, 0x18ea0c06c6d94a2a, 0x18ea0c20f4d566ea, 0x18ea0c293d38ef85, 0x18ea0cb6ccbfcf18, 0x18ea0d1ff432ccc1, 0x18ea0d2f2398902d, 0x18ea0dbec791d1a4}

// bridgedRegressions are those that have found something on the bridge.
var bridgedRegressions = []uint64{0x1c, 0x1f, 0x25, 0x28, 0x2e, 0x45, 0x64}

// TestSameSeedSameTrace plays seeds twice. Actors are broken between messages
// only: what is in a mailbox when a message breaks its actor, and lost with it,
// is the scheduler's choice.
func TestSameSeedSameTrace(t *testing.T) {
	t.Parallel()
	for seed := range max(1, *seedsFlag/5) {
		t.Run(fmt.Sprintf("%#x", seed+1), func(t *testing.T) {
			t.Parallel()
			p := plan.New(seed+1, *stepsFlag)
			for i := range p.Steps {
				if p.Steps[i].Panic.Phase == "receive" {
					p.Steps[i].Panic.Phase = "init"
				}
			}
			first, second := play(t, p), play(t, p)
			judge(t, p, first)
			judge(t, p, second)
			if first.trace.sum() != second.trace.sum() {
				t.Errorf("the traces differ (-first +second):\n%s", cmp.Diff(first.trace.hashed(), second.trace.hashed()))
			}
		})
	}
}
