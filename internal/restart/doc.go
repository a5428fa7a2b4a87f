// Package restart is the restart policy of a supervisor as pure data and
// code, in OTP's words.
//
// A [Supervisor] is a state machine: events go in, actions come out, and the
// caller (an actor) carries the actions out. It has no clock, goroutine, lock
// or randomness: the time is an argument, the roll of the backoff's die comes
// with the exit it belongs to. So a run is replayed by replaying its events.
//
//	              Exited, restart-worthy
//	   ┌────────────────────────────────────────────┐
//	   │                                            ▼
//	running ──Stop──▶ stopping ──Exited──▶ down (waits for its round)
//	   ▲                  │                         │
//	   │                  └─ removed, temporary ─▶ forgotten
//	   └──────────────── Start (a new generation) ──┘
//
// Invariants:
//
//   - A child has at most one live generation: Start of the next one is only
//     emitted after Exited of the last one.
//   - Generations grow over the life of a Supervisor and are never used
//     twice. Exited, Ready and Due of another generation are dropped, each in
//     one place.
//   - Children start left to right. Stops are emitted right to left, all in
//     one step: the machine does not wait for one exit before it asks for the
//     next, so that one child that hangs delays the others by its own stop
//     timeout only, not by the sum of all.
//   - Every Stop must be answered by one Exited of that generation. A child
//     that does not answer is for the caller to abandon and report.
//   - A child that exits while it is being stopped has not failed, however it
//     exits.
//   - After the first GiveUp or Shutdown nothing is started any more.
//
// A start is asynchronous: the machine starts the next sibling without
// waiting for the first to be healthy. A start that fails is simply an
// abnormal exit of that generation.
//
// # Strategies
//
// On the restart-worthy exit of a child, one_for_one starts that child again,
// rest_for_one stops those after it and starts it and them again, and
// one_for_all does so with all. The children to start form a round: it waits
// until everything that was stopped has exited and the backoff is over, then
// starts them in order. The backoff runs from the failure, so a slow stop does
// not lengthen it. A second failure before the round has started joins it, and
// the later of the two times counts. As in OTP, a round also starts a
// transient child that had ended normally, and forgets temporary ones.
//
// # Giving up
//
// The budget is one of failures in a row and, where the child has a Patience, of
// time: both have to be spent. A loss is not a failure to come back, so the exit of
// a generation that had been Ready counts for neither.
//
// When the policy's budget is spent, everything is stopped right to left, and
// [GiveUp] is emitted once all have exited. [Done] answers the first
// [Shutdown], exactly once, also after a GiveUp.
package restart
