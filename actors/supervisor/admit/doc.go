// Package admit holds the one verdict on what may be done to a page: may a command, a
// navigation or a recovery run now, and if not, what does the caller get.
//
// The verdict is a pure function of what is known of the page ([Known]) and of what is
// asked. Raw CDP, navigation, recovery and the interruption of calls under way use it. How
// Chrome treats each method stands in package quirks. What a caller may do at all, by its
// token and the task's scope, is decided before, by package rawcdp.
//
// Invariants:
//
//   - every question has exactly one verdict, and the same question has the same one;
//   - a refusal has an error with a code of the contract, every other verdict has none;
//   - what is refused has not been sent.
package admit
