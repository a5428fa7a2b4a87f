// Package view is what readers of a task see: the [View] of its newest state, the
// [Board] that shows it, and the feed of events for watchers.
//
// Reading is free: a View is immutable and stands behind an atomic pointer, so that a
// snapshot waits neither for the browser nor for the supervisor. A Board outlives the
// supervisor that publishes on it.
//
// Invariants:
//
//   - versions of a board only grow;
//   - a watcher gets every event after its version in order, or one reset with the whole state;
//   - the events kept are bounded in number and in bytes.
package view
