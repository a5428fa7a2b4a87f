// Package ledger records answers that are owed.
//
// An order carries a [mail.Call] that is answered exactly once. When an actor ends, the
// messages in its mailbox are dropped, and with them orders and answers. So an actor that
// passes an order on enters it here first, and settles what is still owed when the receiver
// has ended:
//
//	to := debts.Owe("session/S1", order.Reply, nil, gone)  // sent on with to
//	…
//	debts.Settle("session/S1")                             // S1's actor has exited
//
// The first of receiver and ledger gives the answer; the other one's call does nothing.
package ledger
