package node

import (
	"context"
	"runtime"
	"testing"

	"holdfast/messages"
)

// TestTracingThatIsOffCostsNothing: without a tracer a call makes no allocation
// more than the same call past the tracing layer.
func TestTracingThatIsOffCostsNothing(t *testing.T) { // not parallel: it counts for the whole process
	n, err := Start(t.Context(), Config{StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Stop(context.Background()) }()
	request := messages.CDPRequest{Method: "Runtime.evaluate"} // refused, since there is no such task
	plain := allocations(func() {
		_ = request.Validate()
		_, _ = n.runCDP(t.Context(), "t", request)
	})
	off := allocations(func() { _, _ = n.CDP(t.Context(), "t", request) })
	if off > plain+0.5 {
		t.Errorf("%v allocations, %v without", off, plain)
	}
}

// allocations of one call, on average. testing.AllocsPerRun rounds down, which
// makes one of a difference where the race detector drops now and then what a
// pool holds.
func allocations(call func()) float64 {
	const calls = 2000
	call()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range calls {
		call()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / calls
}
