// Package view decides what one client of the gateway sees of a browser and what it may do
// to it.
//
// A client speaks to a task as if the task were the whole browser. Commands to its own
// sessions that act on their page alone do not come here. What does come is every command
// to the browser, and every command that could name something outside the task:
//
//	client ── Command ──▶ View ── Forward, Call, Open, Close ──▶ browser, supervisor
//	client ◀── Reply, Event ── View ◀── Seen, Gone, Attached, Detached, Outcome
//
// Discovery and auto-attach of the browser's targets are emulated: the browser attaches for
// no client by itself (C64). The view is given the targets of the task, and asks for each
// one that a client's filter takes with Target.attachToTarget.
//
// [View] is pure: it has no clock, goroutine or connection. The gateway calls it under the
// client's lock and carries its effects out in order.
//
// Invariants:
//
//   - every command gets exactly one [Reply], from here or by way of a [Forward];
//   - no target, session or browser context is named to the client that is not the task's;
//   - an id that is not the task's gets the answer of one that does not exist.
package view
