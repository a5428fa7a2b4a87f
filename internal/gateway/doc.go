// Package gateway gives each task a CDP endpoint of its own: Playwright, Puppeteer, chromedp
// and every other CDP client drive the task's pages as if these were the whole browser.
//
// All clients of a task speak over the task's own link. Each has a browser session of its
// own on it (Target.attachToBrowserTarget), which attaches to nothing by itself; below that
// session are the client's sessions, so the end of the one is the end of all.
//
//	client's socket ── reader ── id, session ──▶ transport.Mux ──▶ browser
//	client's socket ◀── queue ◀── id, session ── the link's reader ◀── browser
//
// No actor and no mailbox stands in that way. What could reach beyond the page of a session
// goes through a state machine, the [holdfast/internal/gateway/view], instead.
//
// A [hub] is what the clients of one task have in common: a browser session that discovers
// targets, and which of them are the task's. It stays without clients for as long as there are
// browser contexts that they have made.
//
// Locks: the hub's before a client's. Nothing is sent to the link, and no caller is answered,
// under either. What a client is told is put into its queue under the client's lock, which
// is what orders events and replies.
package gateway
