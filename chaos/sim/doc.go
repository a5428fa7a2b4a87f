// Package sim runs a whole node against fake browsers on a fake clock, and does
// to it what a plan says: a registry with its supervisors and all actors, real
// links over in-memory pipes, the HTTP API and its client, in one
// testing/synctest bubble. Everything is in its tests:
//
//	plan ─▶ actions, faults ─▶ chaos.Browser ◀─pipe─▶ holdfast.Node ◀─▶ calls
//	                                │                      │              │
//	                                └── truth ──▶ invariants ◀── snapshots, events, outcomes
//	                                                   │
//	                                                 trace ─▶ hash
//
// See chaos/README.md for what each invariant means, how a failing seed is
// replayed, and what has been found.
package sim
