// Package api is the HTTP face of a node: the contract's routes, error codes
// and security, on top of the node's Go API ([Node]) and of nothing else.
//
//	request ─ recover, log ─ Host ─ Origin ─ token ─┬─ route ─ scope ─ lease ─ handler ─ Node
//	                       (403)   (403)    (401)   │         (403)
//	                                                └─ no route: 404, 405
//
// Invariants:
//
//   - Every request, of a known route or not, passes the one gate ([gate.Gate]); a route
//     is open only because the table in routetable.go says so (X13, X14).
//   - Whatever goes wrong, the caller gets {"error":{code,message,details?}}.
//     Only a [messages.Error] reaches the caller; any other error is logged,
//     redacted, and answered as internal.
//   - No token, no query and no CDP URL is ever logged or sent.
//   - Every body is limited, every write has a deadline; a reader that stalls
//     is dropped and delays no other.
//   - A live stream sends what is new when there is time to write it, and queues nothing;
//     reading it renews no lease.
//   - No handler holds state of a task: what is shown comes from a snapshot,
//     what is asked goes to the node.
package api
