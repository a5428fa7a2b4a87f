// Package gate decides who may ask a node for what. HTTP, the WebSocket gateway and MCP
// stand behind the same one.
//
//	request ─ CheckHost ─ Authenticate ─────────────── Caller ─ CheckTask ─ … ─ Audit
//	          Host, Origin  header, ?token=, ?ticket=     │
//	          (403)         (401)                         ├─ Context     the node's view of the caller
//	                                                      ├─ Ticket      one WebSocket, within 30 s
//	                                                      └─ OpenStream  bounded by the token's share
//
// Invariants:
//
//   - A request is refused for its Host or Origin before its token is looked at (X14), and for
//     its token before anything else is said of it (X13).
//   - A refusal for a token is counted by the route's class and logged with the caller's
//     address: never with the token, the path or the query.
//   - What is good once is kept by its hash, for a short time, in bounded number.
//   - A stream ends with the token that opened it, and with the gate.
package gate
