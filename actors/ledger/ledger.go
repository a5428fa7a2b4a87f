package ledger

import (
	"slices"
	"sync/atomic"

	"holdfast/messages/mail"
)

// Ledger holds debts. The zero value is empty. Its methods are for one
// goroutine; what Owe returns may be called on any.
type Ledger struct {
	debts []*debt
	sweep int // when the settled ones are dropped next
}

type debt struct {
	key   string
	to    mail.ReplyTo
	value any
	err   error
	paid  atomic.Bool
}

func (d *debt) pay(value any, err error) {
	if d.paid.CompareAndSwap(false, true) {
		d.to(value, err)
	}
}

// Owe enters that key owes an answer to to, and returns the way to give it,
// of which only the first use counts. Value and err are the answer if
// [Ledger.Settle] comes first.
func (l *Ledger) Owe(key string, to mail.ReplyTo, value any, err error) mail.ReplyTo {
	if to == nil {
		return nil
	}
	if len(l.debts) >= l.sweep {
		// Twice as many as are owed: entering one costs the same however many.
		l.debts = slices.DeleteFunc(l.debts, func(d *debt) bool { return d.paid.Load() })
		l.sweep = max(16, 2*len(l.debts))
	}
	d := &debt{key: key, to: to, value: value, err: err}
	l.debts = append(l.debts, d)
	return d.pay
}

// Settle gives every answer that key still owes, oldest first.
func (l *Ledger) Settle(key string) {
	l.settle(func(d *debt) bool { return d.key == key })
}

// SettleAll gives every answer that is still owed.
func (l *Ledger) SettleAll() { l.settle(func(*debt) bool { return true }) }

func (l *Ledger) settle(which func(*debt) bool) {
	due := l.debts
	l.debts = slices.DeleteFunc(slices.Clone(due), func(d *debt) bool { return which(d) || d.paid.Load() })
	for _, d := range due {
		if which(d) {
			d.pay(d.value, d.err)
		}
	}
}

// Owed is how many answers are still owed.
func (l *Ledger) Owed() int {
	n := 0
	for _, d := range l.debts {
		if !d.paid.Load() {
			n++
		}
	}
	return n
}
