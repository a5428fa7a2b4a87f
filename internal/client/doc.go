// Package client is a typed client of a node's HTTP interface.
//
// It adds nothing to the contract: one method per route, the contract's
// errors as [messages.Error], and [Unreachable] where there was no answer of
// the contract at all. It never retries: what is safe to ask again, and when,
// is the caller's to decide.
package client
