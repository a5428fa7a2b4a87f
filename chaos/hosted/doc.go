// Package hosted imitates a hosted browser as some services offer it: a CDP proxy with a
// client of its own inside. It closes native dialogs before another client can answer,
// drops a connection when another one ends, and refuses an address that has expired.
//
//	client ── door (an address) ──► proxy ──► browser
//	                                  keeper ──┘ dismisses what opens
//
// It is a proxy in front of any browser with a DevTools address, a real one or that of
// package chaos. A beforeunload is left alone: the client inside such services accepts it,
// as a task does by default.
package hosted
