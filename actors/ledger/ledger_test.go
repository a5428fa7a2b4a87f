package ledger_test

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"holdfast/actors/ledger"
	"holdfast/messages/mail"
)

func TestLedger(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	type got struct {
		value any
		err   error
	}
	note := func(list *[]got) mail.ReplyTo {
		return func(v any, err error) { *list = append(*list, got{v, err}) }
	}

	t.Run("an answer that was given is not given again", func(t *testing.T) {
		t.Parallel()
		var l ledger.Ledger
		var answers []got
		to := l.Owe("a", note(&answers), nil, gone)
		to(1, nil)
		to(2, nil)
		l.Settle("a")
		l.SettleAll()
		if want := []got{{1, nil}}; !slices.Equal(answers, want) {
			t.Errorf("answers %v, want %v", answers, want)
		}
	})
	t.Run("what is owed is given once its debtor has ended, and only then", func(t *testing.T) {
		t.Parallel()
		var l ledger.Ledger
		var a, b []got
		late := l.Owe("a", note(&a), nil, gone)
		l.Owe("b", note(&b), 7, nil)
		l.Settle("a")
		late(1, nil)
		if want := []got{{nil, gone}}; !slices.Equal(a, want) || b != nil || l.Owed() != 1 {
			t.Errorf("a got %v, b got %v, %d owed", a, b, l.Owed())
		}
		l.SettleAll()
		if want := []got{{7, nil}}; !slices.Equal(b, want) || l.Owed() != 0 {
			t.Errorf("b got %v, want %v; %d owed", b, want, l.Owed())
		}
	})
	t.Run("nobody is owed nothing", func(t *testing.T) {
		t.Parallel()
		var l ledger.Ledger
		if to := l.Owe("a", nil, nil, gone); to != nil {
			t.Error("a way to answer nobody")
		}
		l.SettleAll()
	})
	t.Run("an answer may enter a debt of its own", func(t *testing.T) {
		t.Parallel()
		var l ledger.Ledger
		n := 0
		l.Owe("a", func(any, error) { l.Owe("a", func(any, error) { n++ }, nil, nil) }, nil, nil)
		l.Settle("a")
		if l.Owed() != 1 || n != 0 {
			t.Errorf("%d owed, %d given", l.Owed(), n)
		}
	})
	t.Run("of two givers at once one counts", func(t *testing.T) {
		t.Parallel()
		for range 200 {
			var l ledger.Ledger
			var n atomic.Int32
			to := l.Owe("a", func(any, error) { n.Add(1) }, nil, gone)
			var wg sync.WaitGroup
			wg.Go(func() { to(1, nil) })
			wg.Go(l.SettleAll)
			wg.Wait()
			if n.Load() != 1 {
				t.Fatalf("%d answers", n.Load())
			}
		}
	})
}

func TestLedgerDoesNotGrowWithWhatWasPaid(t *testing.T) {
	var l ledger.Ledger
	nobody := func(any, error) {}
	for range 100 {
		l.Owe("slow", nobody, nil, nil)
	}
	if n := testing.AllocsPerRun(1000, func() { l.Owe("a", nobody, nil, nil)(nil, nil) }); n > 3 {
		t.Errorf("%v allocations for an answer that was given at once", n)
	}
	if l.Owed() != 100 {
		t.Errorf("%d owed, want 100", l.Owed())
	}
}
