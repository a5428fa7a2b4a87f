// Package task holds the machine that decides for one task: it folds what the children of
// the supervisor say into the task's state ([step.Work]) and returns what is to be done.
// The supervisor's actor is the shell around it.
//
// The machine is pure: messages and the time go into [Machine.Step], and a closed set of
// values ([step.Effect]) comes out.
//
// Invariants:
//
//   - versions only grow, and each names exactly one [messages.Event];
//   - a fact of another generation than the link's changes nothing;
//   - a page's session is served by one actor at a time;
//   - after the last state nothing is published, and every order still gets its answer.
package task
