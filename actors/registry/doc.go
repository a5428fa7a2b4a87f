// Package registry holds the one actor per node that knows every task: it
// starts, rebinds, stops and expires supervisors, and sees to it that there is
// never more than one per task, and that no more run than may.
//
//	StartTask, StopTask ──► machine ──► SpawnSupervisor, StopSupervisor
//	supervisor's exit ────►    └──────► answers to waiting callers
//
// Reading goes around the actor: the [Directory] finds a task's board, and the
// [Gauge] says how close the node is to its limits, without a message.
//
// Invariants:
//
//   - one live supervisor per task: the next one starts after the last one has
//     exited, links, browser and all;
//   - every StartTask and StopTask is answered exactly once;
//   - no start waits for a place that lacks nothing, and none is overtaken by a later one of
//     its kind;
//   - a lower limit ends nothing;
//   - a task is never dropped in silence: one that was lost stays listed until
//     it is started again or stopped.
package registry
