// Package live kills real sockets under a real node: with the fake browser of
// package chaos behind a fault proxy (many tasks, many kills), and with a real
// Chromium. It holds tests only.
//
//	node ──tcp── fault proxy ──tcp── fake browser, or Chromium
//	 │                │
//	drivers        kills: reset, FIN, half-open, slow, or the node's own chaos order
//
// What is checked at rest: every call had one outcome and ran at most once, in
// the frame it was meant for; every dialog was answered at most once, with a
// value an agent gave, and none was lost while one link lived; pages and frames
// are the browser's; versions only grew; no task and no goroutine was lost.
//
// A plan is decided by its seed. What the sockets and the scheduler make of it
// is not: a line that replays a failure repeats the plan, not the interleaving.
// Deterministic runs of the same tree are those of the simulation.
package live
