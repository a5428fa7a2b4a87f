// Package messages is the vocabulary of Holdfast: what may be said between
// actors, and what is said to callers.
//
// Three kinds of thing live here, and nothing that acts:
//
//   - the words of the public contract: [TaskID], [TaskSpec], [Snapshot],
//     [Error] and its codes;
//   - facts, in the past tense, that actors tell each other about what
//     happened ([DialogOpened], [FrameDetached], [TargetCrashed]);
//   - orders, in the imperative ([AnswerDialog], [StopTask]).
//
// Every value is immutable once sent. A fact about a link or a session
// carries the generation of the link it was seen on, and a machine that meets
// an older generation drops the fact.
package messages
