// Package ui is the live page of a node: static files, without a build step, that show what
// GET /v1/live sends and request what the HTTP interface offers.
//
// The page itself is open to every client that may reach the node: it holds no data. What
// it shows it fetches with the token that its user gives it, in the
// Authorization header, never in a query. The token stays in the tab's
// sessionStorage and goes with the tab.
//
// Invariants:
//
//   - No byte comes from elsewhere, and no script or style is inline: the
//     Content-Security-Policy of [Policy] holds without an exception.
//   - Text of pages and callers becomes text nodes and attribute values only.
//     There is no innerHTML; Trusted Types have the browser refuse one.
//   - The index is asked for anew each time; everything else has the hash of all
//     of it in its path and is kept for ever.
package ui
