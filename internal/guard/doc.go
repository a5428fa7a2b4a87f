// Package guard is the one wrapper around hollywood that makes an actor safe.
//
// Of hollywood v1.0.5 it uses what is sound: PIDs, the registry, the event stream
// and the Remoter seam. It does not use hollywood's process:
// its restart path, its poison pills and its parent/child shutdown lose
// actors, hang waiters and can kill the whole program. Guard puts its own
// [actor.Processer] behind the PID instead, which the engine allows, so those
// paths are not merely avoided but absent.
//
//	      Root / Context.Spawn
//	             │ New, Init
//	             ▼
//	┌────────▶ running ── panic, Exit, Stop ──▶ dying ─────▶ terminating ─▶ closed
//	│ messages,  │                              │ children      Terminate    Exited to
//	│ Exited,    │                              │ shut down,                 the parent
//	└─ timers ───┘                              │ Go funcs
//	                                            └ awaited
//
// What holds for every actor:
//
//   - Nothing of it runs on the spawner's goroutine: New and Init run as its
//     first message. Its methods run one at a time, each after the other.
//   - A panic, or a runtime.Goexit, in New, Init, Receive, Terminate or in a
//     function started with Go ends the actor with Reason Panic and reaches
//     no other actor. The messages queued behind it are dropped.
//   - It is never restarted here. Its end is one [Exited] message to its
//     parent, the last thing it does; the parent decides (see [Group]).
//   - It exits only after its children have and its Go functions have
//     returned. Children are shut down all at once, the newest first.
//   - Stopping is a message that may be sent any number of times, from
//     anywhere. There are no poison pills: engine.Stop and engine.Poison on a
//     guarded actor are bugs. They shut it down and are logged, but their
//     contexts are never done.
//   - A child that does not exit in time is abandoned: its parent continues
//     under [Abandoned], its PID is taken out of the registry, its own
//     children are told to shut down. Its goroutine cannot be killed.
//   - An ID is never used twice: every actor has a generation of its own.
//
// Stop is in line with other messages: what was sent to an actor before Stop
// is processed before it ends. An actor that is dying drops messages quietly;
// what is sent after it has gone is a dead letter.
//
// An idle actor has no goroutine. A message starts one, unless its sender has nothing else
// to do: then the sender's goroutine runs the receiver next, since to wake another takes
// longer than most messages do. So an event of the browser reaches the snapshot through
// three actors on one goroutine. An actor that hangs delays only the actor it sent to in
// the step in which it hangs, and that one only until another sender reaches it.
//
// Sending never blocks and queues grow without bound; so what waits is counted, and
// shed at the door. Half a mailbox is for anything; beyond that an order is refused
// ([Refuser]), and what a browser says is not taken in ([Door]), which costs the
// link. A mailbox that is full all the same has lost something its actor had to
// know: the actor fails, as by a panic, and what restarts it makes up for both.
package guard
