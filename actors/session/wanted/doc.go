// Package wanted remembers what a task's agents have set in its pages, so that
// the next session of a page can be given it too.
//
// What a raw CDP command sets belongs to the session it was sent on and dies
// with it: the viewport, extra headers, scripts for new documents, enabled
// domains. A session dies with its link, and when a page is freed of a dialog.
// The task continues, and what it wanted stays in force:
//
//	agent's command ── succeeded ──▶ Store ──▶ the attach of the next session
//
// This repeats no command. What is sent again is the state that a command is
// known to have reached; one whose link was lost before its reply came is not
// remembered, whatever became of it.
//
// [Keeps] says which commands set state. The rule: a command is kept if sending
// it a second time on a fresh session of the same page does what the first did
// and nothing else. So nothing that acts (input, navigation, storage), reads,
// starts a recording, stops a page (Debugger, Fetch: the client that would resume it is
// gone with the session), or names an object of the old session.
//
// A [State] is pure; a [Store] is the lock around it. The store lives with the
// task's supervisor and is written on the goroutine of the link's reader, so that
// what was answered before a link ended is known before the next one begins.
//
// Of what is set in the browser itself, permissions and the download behaviour
// die with the connection and are kept. Browser contexts outlive it, but for
// those that were made with disposeOnDetach, which are gone as their maker asked.
//
// What a page loads while it has no session is not seen by its scripts for new documents:
// no session was there to run them.
//
// Invariants:
//
//   - of two commands that set the same thing, the one answered last counts;
//   - a session is given what is kept once, and again only what vanishes with the end of
//     an older session, or was refused (C61);
//   - what was set for a frame is given to documents of the site it was set for alone;
//   - a navigation begins when that has its outcome, or has had its time for it;
//   - the identifier of a script that an agent was given names that script as
//     long as the task remembers it, whatever the browser calls it by now.
package wanted
