package ledger

import (
	"slices"

	"holdfast/internal/call"
	"holdfast/messages/mail"
)

// Ledger holds the answers that an actor owes. Calls is the node's table of calls. The
// methods are for one goroutine.
type Ledger struct {
	Calls *call.Table

	debts []debt
	sweep int // how many debts there are when the settled ones are dropped
}

type debt struct {
	key   string
	to    mail.Call
	value any
	err   error
}

// Owe enters that key owes an answer to the call. Value and err are the answer where
// [Ledger.Settle] comes first.
func (l *Ledger) Owe(key string, to mail.Call, value any, err error) {
	if to == 0 {
		return
	}
	if len(l.debts) >= l.sweep {
		l.debts = slices.DeleteFunc(l.debts, l.isPaid)
		// Twice as many as are owed: the cost of an entry does not grow with their number.
		l.sweep = max(16, 2*len(l.debts))
	}
	l.debts = append(l.debts, debt{key, to, value, err})
}

// Settle gives every answer that key still owes, oldest first.
func (l *Ledger) Settle(key string) {
	l.settle(func(d debt) bool { return d.key == key })
}

// SettleAll gives every answer that is still owed.
func (l *Ledger) SettleAll() { l.settle(func(debt) bool { return true }) }

func (l *Ledger) settle(isDue func(debt) bool) {
	all := l.debts
	l.debts = slices.DeleteFunc(slices.Clone(all), isDue)
	for _, d := range all {
		if isDue(d) {
			l.Calls.Answer(d.to, d.value, d.err)
		}
	}
}

// Owed is how many answers are still owed.
func (l *Ledger) Owed() int {
	n := 0
	for _, d := range l.debts {
		if !l.isPaid(d) {
			n++
		}
	}
	return n
}

func (l *Ledger) isPaid(d debt) bool { return !l.Calls.IsOpen(d.to) }
