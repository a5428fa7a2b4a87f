// Package lease decides which node of a cluster supervises which task, and until when.
//
// A [Machine] is one node's half of it. It is pure: readings of the clocks and what the
// store says go in, transactions and orders come out. It has no clock, goroutine or
// randomness, so a run is replayed by replaying its inputs.
//
//	           join              deadline                 record deleted
//	out ─────────────────▶ held ──────────▶ lapsed ───────────────────────▶ out
//	 │                      ▲                  │
//	 └ stopped (other era)  └── renewed ───────┘
//
// A node puts its record and renews it. The revision at which the record was created is
// the node's term. A renewal that the store has carried out allows the node to decide
// until [Times.Own] after the renewal began, by the node's own clock. Others that see one
// revision of the record for [Times.Take], by their own clocks, may delete it: the term is
// over. Since a renewal is seen after it began, the old deadline has passed by then, and
// once the record is gone no transaction of the old term passes.
//
// A task belongs to the node and term that its ownership record names. It is free as soon
// as that term is over, and the node that ranks first takes it by a transaction that
// compares what it saw.
//
// Invariants:
//
//   - At most one node decides for a task at any instant: [Machine.Grant] allows it, the
//     newest record known to the node names it, and it has not begun to hand the task over.
//   - The epoch of a task grows with every change of its owner, and is never used twice.
//   - No wall clock is compared with another machine's, and no revision is guessed.
//   - An answer that is lost is never assumed to be a refusal. Ownership follows from the
//     records that are seen; an answer only makes it quicker. Before a node takes up a task
//     again whose hand-over has no known outcome, it rewrites the record, so that the late
//     transaction fails.
//   - Entries that are older than what is known of their key are dropped in one place
//     (keys.go), and so is a creation that a deletion may have followed.
package lease
