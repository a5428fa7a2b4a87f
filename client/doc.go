// Package client is a typed client of a node's HTTP interface.
//
// [Client.Task] returns the same handle of a task that package holdfast has in the node's
// own process: both are a [messages.Handle]. The other methods of [Client] are one a route.
//
// Errors are the contract's ([messages.Error]), and [Unreachable] where there was no answer
// of the contract. The client never retries: what can be asked again, and when, is the
// caller's to decide.
package client
