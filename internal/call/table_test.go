package call_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"holdfast/internal/call"
)

func TestTable(t *testing.T) {
	t.Parallel()
	var calls call.Table
	fails := errors.New("fails")
	var got []any
	give := func(v any, err error) { got = append(got, v, err) }
	a, b, c := calls.Open(give), calls.Open(give), calls.Open(give)
	calls.Answer(b, 2, nil)
	calls.Answer(b, 3, nil) // the first answer counts
	calls.Answer(a, nil, fails)
	calls.Close(c)
	calls.Answer(c, 4, nil)
	calls.Answer(0, 5, nil)
	if len(got) != 4 || got[0] != 2 || got[3] != fails {
		t.Errorf("answers %v", got)
	}
	if calls.IsOpen(a) || calls.IsOpen(c) || calls.Len() != 0 {
		t.Errorf("%d calls wait", calls.Len())
	}
}

// An answer may open and answer other calls.
func TestAnAnswerMayCall(t *testing.T) {
	t.Parallel()
	var calls call.Table
	n := 0
	inner := calls.Open(func(any, error) { n++ })
	outer := calls.Open(func(any, error) { calls.Answer(inner, nil, nil); calls.Close(calls.Open(func(any, error) {})) })
	calls.Answer(outer, nil, nil)
	if n != 1 || calls.Len() != 0 {
		t.Errorf("%d answers, %d calls wait", n, calls.Len())
	}
}

func TestOneOfManyAnswersCounts(t *testing.T) {
	t.Parallel()
	var calls call.Table
	var n atomic.Int64
	id := calls.Open(func(any, error) { n.Add(1) })
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { calls.Answer(id, nil, nil) })
	}
	wg.Wait()
	if n.Load() != 1 {
		t.Errorf("%d answers", n.Load())
	}
}
