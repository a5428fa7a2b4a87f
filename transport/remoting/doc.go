// Package remoting carries messages between actors of different processes, on the wire of
// hollywood's own remote: stock programs of hollywood v1.0.5 talk to it, and it to them.
//
//	Send ─▶ peer's queue ─▶ one goroutine a peer: dial, write ─▶ the other process
//	SendLocal ◀─ checks ◀─ one goroutine a link ◀─ Serve
//
// Of that remote it uses the generated stubs alone. What it does otherwise:
//
//   - A peer that is away delays no other: each has a queue with a bound, and its own goroutine,
//     which dials.
//   - What finds no room, or has waited too long, is dropped, counted and told.
//   - Nothing that comes in is believed: each index is checked, and only actors that
//     [Options.Resolve] names are reached, by messages of the types in [Options.Types].
//   - A sender is dialled only if it is a member, or on the host that the link comes from.
package remoting
