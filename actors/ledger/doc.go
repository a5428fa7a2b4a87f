// Package ledger keeps count of who is owed an answer.
//
// An order carries a [mail.Call] that is called exactly once. What an
// actor has in its mailbox when it ends is dropped, and with it every order and
// every answer on its way. So whoever sends one on enters it here first, and
// settles what is still owed when the receiver has ended:
//
//	to := debts.Owe("session/S1", order.Reply, nil, gone)  // sent on with to
//	…
//	debts.Settle("session/S1")                             // S1's actor has exited
//
// Whoever is first, the receiver or the ledger, gives the answer; the other's
// does nothing.
package ledger
