// Package memory remembers what a client of the gateway has set in its sessions, so that a
// session outlives the link it was made on.
//
// What a command sets belongs to a session of the browser and dies with its link: enabled
// domains, scripts for new documents, bindings, emulation, intercepts. The client keeps the id
// of its session, and the browser's next session is given what the last one had:
//
//	client's command ── Prepare ──▶ browser ── Succeeded ──▶ Session
//	link lost        ── Cut ──▶ what the client is told: its contexts and nodes are gone
//	link back        ── Begin, Established ──▶ what the new session is given, and what the
//	                    client has missed: documents and frames that came and went
//
// The rules of [holdfast/actors/session/wanted] say what a command sets, with more domains:
// the session is the client's own, which is there to continue what it stops.
//
// A [Session] is pure; the gateway calls it under the client's lock.
//
// Invariants:
//
//   - nothing that acts is repeated: what is sent is the state that a command is known to
//     have reached, and one without a reply is not remembered;
//   - what a fresh session is given is what the last one had, each thing once;
//   - an id of an object or of an intercepted request names what the client was told it
//     names, or nothing: those of an older link have another mark (see [Mark]).
package memory
