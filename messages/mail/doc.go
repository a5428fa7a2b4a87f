// Package mail holds what actors of one node send each other. Callers never see it.
//
//   - Facts are in the past tense: what happened to a link, a page, a frame or a dialog
//     ([DialogOpened], [FrameDetached], [SessionHealth]).
//   - Orders are in the imperative: what an actor has to do ([AnswerDialog], [StopTask]).
//   - Memory is what a failed actor leaves to its successor ([DialogMemory]).
//
// Every value is immutable once it is sent. A fact about a link or a session carries the
// [Generation] of that link; a machine drops facts of an older generation.
package mail
