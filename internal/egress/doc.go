// Package egress decides where the holders of scoped tokens may go (requirement
// X15): which addresses their pages load, and which browsers their tasks attach to.
//
//	Rules ─ Parse ─► Policy ─┬─ CheckURL, CheckPage   a URL that a caller names
//	                         ├─ Proxy                 what a launched browser connects to
//	                         └─ DialBrowser           the host of a cdp_url
//
// Invariants:
//
//   - An address is judged after its name has been resolved, on the socket that is
//     about to connect ([net.Dialer.Control]): a name that changes its address
//     between two questions gains nothing.
//   - What a policy does not allow is denied: every address that is not public, and
//     every scheme that is not listed.
//   - A reader gets [ErrDenied] and no address; a page learns only that something
//     is denied.
package egress
