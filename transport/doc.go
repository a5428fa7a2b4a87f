// Package transport moves bytes between Holdfast and a browser: it finds the
// browser's endpoint, opens a WebSocket link, tells replies from events
// without decoding them, matches replies to calls and routes events to the
// sessions that asked for them. It knows nothing of actors or tasks, and of pages only which
// link of a shared connection has which session.
//
//	Await, Direct ───────────────────┐ if no write is under way, and it need not wait
//	Start ──▶ queue ──▶ writer ──────┴▶ WebSocket ──▶ browser
//	                                      │
//	           Done ◀── pending ◀─┐       ▼
//	           Sink ◀── routes  ◀─┴─── reader ──▶ unwanted events: counted
//
// Invariants:
//
//   - A call that was started gets exactly one outcome, whatever happens to
//     the link; the link's own end is told after all of them.
//   - Nothing a caller does waits for the peer: the queue is bounded, and a
//     full one is an outcome of the call.
//   - One goroutine reads. Another writes while there is something to write.
//     An idle link has no other goroutine, and no buffer but the library's.
//   - A tap below the WebSocket tells when there is nothing more to be read without
//     waiting: what was put off while messages followed each other is done then, and
//     whom it woke goes first.
//   - One goroutine writes at a time, commands in the order of their starts, and
//     a command that has begun is written to its end.
//   - Replies and events are handed out in the order of the wire.
//   - What the peer sends is bounded: in size by message, in number by queue.
//   - A browser that the node launched is behind a pipe instead of a socket. Its
//     links share the pipe, and none sees, tears or delays what is another's.
//   - A connection that tasks share is attached to each page once. The links see pages and
//     sessions as over a connection of their own.
//   - A CDP URL is a credential. It is revealed to the dialer and never stands
//     in an error.
package transport
