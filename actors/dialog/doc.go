// Package dialog holds the actor that owns a task's JavaScript dialogs: the
// queue, the policy, the watchdogs, and the rule that each dialog is answered
// at most once.
//
//	session ── DialogOpened, DialogClosed ──► machine ── HandleDialog ──► session
//	caller  ── AnswerDialog ───────────────►    │
//	frame   ── FramesRemoved ──────────────►    └── DialogsChanged ─────► supervisor
//
// Invariants:
//
//   - a dialog's record is settled before its answer is written, so that the
//     closing event cannot turn "agent" into "remote" (requirement D15);
//   - of several answers one wins, the others are told so (M5);
//   - no answer is invented: what no session can answer any more is "lost";
//   - a dialog whose frame was removed is never answered (C15).
package dialog
