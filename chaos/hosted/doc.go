// Package hosted is the double of a hosted browser as some services offer it: a
// CDP proxy with a client of its own inside. It closes native dialogs before
// anybody else can answer, drops a connection when another one ends, and lets
// nobody in by an address that has expired.
//
//	client ── door (an address) ──► proxy ──► browser
//	                                  keeper ──┘ dismisses what opens
//
// It is a proxy in front of any browser with a DevTools address, a real one or that
// of package chaos. A beforeunload is left alone: what is inside such services
// accepts it, which is what a task does by default as well.
package hosted
