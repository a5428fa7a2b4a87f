// Package clustersim breaks the leases of a cluster by a seed, in virtual time: several
// machines of internal/cluster/lease on a store in memory, with clocks that run at
// different rates, pauses, kills, cuts from the store, answers that are lost and
// transactions that arrive late. Everything is in its tests:
//
//	seed ─▶ faults ─▶ nodes ◀─ delays, losses, other orders ─▶ storetest.Map
//	                    │
//	                    └─▶ invariants: one decider a task, epochs that only grow,
//	                        and every task with an owner once all is well again
//
// See chaos/README.md for how a failing seed is played again.
package clustersim
