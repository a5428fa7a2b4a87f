// Package plan writes down, from one seed, what is going to happen to a node:
// ordinary life and faults, interleaved, with weights.
//
//	seed ─▶ New ─▶ Plan{Tasks, Steps} ─▶ chaos/sim carries it out
//
// A plan is pure data and names nothing that exists only while it runs. A step names its
// task and carries numbers, by which the code that runs it picks among the pages, frames
// and dialogs that exist by then.
//
// Invariants:
//
//   - The same seed gives the same plan, on every machine.
//   - A shorter plan is the beginning of a longer one of the same seed, so that
//     a failure at step k is replayed by k steps.
package plan
