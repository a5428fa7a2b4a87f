// Package session has the actors that own CDP sessions: [Link] owns one of the task's links,
// the primary with the browser's own session or the anchor with every session on it, and [Page]
// the primary's session of one page or of one frame of another process.
//
//	wire ──► sink: decode once ──► actor ──► machine.Step ──► effects
//	                                                            │
//	             commands on the session ◄──────────────────────┤
//	             facts to dialog, frame, supervisor ◄───────────┘
//
// The machines are in packages of their own, below this one: page and link decide, decode
// reads events, bridge replaces dialogs. They have no clock, no goroutine and no link. This
// package has the shells, which carry effects out, and what the tasks of a node share.
//
// A caller's raw command does not pass through the actor: it goes through the
// session's [Port] straight to the link, so that nothing it waits for can hold
// up anything else. The actor is told only when such a call has been waiting
// for long, and then finds out why.
//
// Invariants:
//
//   - an attach waits for nothing: its commands are written in one go and each
//     reply only updates state (chromium facts C23, section 12 A);
//   - Runtime.runIfWaitingForDebugger is the last command of every attach,
//     whatever the waiting flag said (C33); for a popup it waits, for a moment,
//     until both links see the popup's dialogs;
//   - a page that does not answer becomes a state, never a delay.
package session
