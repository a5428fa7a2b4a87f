// Package session holds the actors that own CDP sessions: the browser's own
// ([Browser]), which also owns the primary link, one per page and per
// out-of-process iframe ([Page]), and the task's second link with all that is on
// it ([Anchor]).
//
//	wire ──► sink: decode once ──► actor ──► machine.Step ──► effects
//	                                                            │
//	             commands on the session ◄──────────────────────┤
//	             facts to dialog, frame, supervisor ◄───────────┘
//
// The machines ([Machine], [BrowserMachine]) decide and do nothing else: no
// clock, no goroutine, no link. The shells carry effects out.
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
