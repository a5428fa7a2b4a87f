// Package chaos is a fake browser for tests: it speaks enough CDP, the way
// Chromium 156 speaks it, for thousands of supervised tasks in one process and
// for deterministic runs inside a testing/synctest bubble.
//
//	            world calls: NewPage, NavigateFrame, OpenDialog, Crash, …
//	                              │
//	client ─ws─ Conn ─ sessions ─ Browser ─ pages ─ frames ─ targets ─ procs
//	              │                                                       │
//	            faults: Drop, Stall, SwallowReply, …        what hangs, and for whom
//
// [Browser] is an http.Handler (/json/version, /devtools/browser/{id}), so it
// works behind any listener, a pipe as well as a socket.
//
// Invariants:
//
//   - One mutex guards the whole world. A command, a world call and everything
//     they cause happen in one critical section, so that their messages leave
//     in one order and a [Browser.Frames] never sees half of a swap.
//   - Nothing is random and nothing reads a clock: ids and timestamps come
//     from a seeded counter, lists are kept in order of creation. The same
//     seed and the same calls give the same bytes.
//   - No goroutine per page or session: two per connection, none per browser.
//   - What a command does to a page that has a dialog open, spins or has
//     crashed follows from where Chrome handles it: see [place].
//
// The facts it imitates (C1–C60, M1–M16) are named beside the code. Its
// answers are compared with recordings of a real Chromium in
// chaos/recordings.
package chaos
