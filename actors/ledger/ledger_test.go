package ledger_test

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"holdfast/actors/ledger"
	"holdfast/internal/call"
	"holdfast/messages/mail"
)

func TestLedger(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	type got struct {
		value any
		err   error
	}
	setup := func() (*call.Table, *ledger.Ledger, func(*[]got) mail.Call) {
		calls := &call.Table{}
		return calls, &ledger.Ledger{Calls: calls}, func(list *[]got) mail.Call {
			return calls.Open(func(v any, err error) { *list = append(*list, got{v, err}) })
		}
	}

	t.Run("an answer that was given is not given again", func(t *testing.T) {
		t.Parallel()
		calls, l, note := setup()
		var answers []got
		to := note(&answers)
		l.Owe("a", to, nil, gone)
		calls.Answer(to, 1, nil)
		calls.Answer(to, 2, nil)
		l.Settle("a")
		l.SettleAll()
		if want := []got{{1, nil}}; !slices.Equal(answers, want) {
			t.Errorf("answers %v, want %v", answers, want)
		}
	})
	t.Run("what is owed is given once its debtor has ended, and only then", func(t *testing.T) {
		t.Parallel()
		calls, l, note := setup()
		var a, b []got
		late := note(&a)
		l.Owe("a", late, nil, gone)
		l.Owe("b", note(&b), 7, nil)
		l.Settle("a")
		calls.Answer(late, 1, nil)
		if want := []got{{nil, gone}}; !slices.Equal(a, want) || b != nil || l.Owed() != 1 {
			t.Errorf("a got %v, b got %v, %d owed", a, b, l.Owed())
		}
		l.SettleAll()
		if want := []got{{7, nil}}; !slices.Equal(b, want) || l.Owed() != 0 {
			t.Errorf("b got %v, want %v; %d owed", b, want, l.Owed())
		}
	})
	t.Run("an order without a call is owed nothing", func(t *testing.T) {
		t.Parallel()
		_, l, _ := setup()
		l.Owe("a", 0, nil, gone)
		if l.SettleAll(); l.Owed() != 0 {
			t.Errorf("%d owed", l.Owed())
		}
	})
	t.Run("an answer may enter a debt of its own", func(t *testing.T) {
		t.Parallel()
		calls, l, _ := setup()
		n := 0
		l.Owe("a", calls.Open(func(any, error) { l.Owe("a", calls.Open(func(any, error) { n++ }), nil, nil) }), nil, nil)
		l.Settle("a")
		if l.Owed() != 1 || n != 0 {
			t.Errorf("%d owed, %d given", l.Owed(), n)
		}
	})
	t.Run("of two answers at once one counts", func(t *testing.T) {
		t.Parallel()
		for range 200 {
			calls, l, _ := setup()
			var n atomic.Int32
			to := calls.Open(func(any, error) { n.Add(1) })
			l.Owe("a", to, nil, gone)
			var wg sync.WaitGroup
			wg.Go(func() { calls.Answer(to, 1, nil) })
			wg.Go(l.SettleAll)
			wg.Wait()
			if n.Load() != 1 {
				t.Fatalf("%d answers", n.Load())
			}
		}
	})
}

func TestLedgerDoesNotGrowWithWhatWasPaid(t *testing.T) {
	var calls call.Table
	l := ledger.Ledger{Calls: &calls}
	ignore := func(any, error) {}
	for range 100 {
		l.Owe("slow", calls.Open(ignore), nil, nil)
	}
	if n := testing.AllocsPerRun(1000, func() {
		to := calls.Open(ignore)
		l.Owe("a", to, nil, nil)
		calls.Answer(to, nil, nil)
	}); n > 3 {
		t.Errorf("%v allocations for an answer that was given at once", n)
	}
	if l.Owed() != 100 {
		t.Errorf("%d owed, want 100", l.Owed())
	}
}
