// Package cli is the holdfast command: its grammar, its output and its exit
// codes.
//
// Client commands are callers of the HTTP interface like any other
// (client); serve, demo and doctor run things on this machine, and
// what they run is handed in by the program ([Program]), so that this package
// knows no actor.
//
// Exit codes: 0 done; 1 the node refused, or the request did not succeed; 2 a mistake in
// the command line; 3 no node was reached. Every failure is one line on standard error,
// "code: message", with one of the contract's codes.
//
// Text that comes from a page is printed with its control characters made visible: a title
// must not move the cursor of a terminal.
package cli
