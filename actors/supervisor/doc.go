// Package supervisor holds the actor that keeps one task: it starts and
// restarts the task's other actors, folds what they say into one state, and
// publishes that state on the task's [view.Board].
//
//	supervisor/<task>
//	├─ dialog                        one_for_one
//	├─ browser ─ frame               rest_for_one: a lost link takes the forest with it
//	└─ page and iframe sessions      temporary, as many as are attached
//
// What may not be lost lives here: the spec, the pages that are the task's,
// the memory of its dialogs. What may fail lives in the children, and their
// failure is answered by policy (package restart): the abnormal exit of the
// browser's session, which owns the link, is the reconnect. The session of a page or iframe is
// never served by a second actor: it is given up, and its page attached to anew.
//
// Every decision is in the machine of package task; this package is the shell that feeds
// it messages and carries its effects out. Reading is free: a [view.View] is immutable and
// stands behind an atomic pointer, so that a snapshot never waits for the browser, nor for
// the supervisor.
package supervisor
