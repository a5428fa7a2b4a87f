package main

import (
	"holdfast/internal/bench/worker"
)

const wakes = "by profile half of a call is the socket, as the loop's; what it has beyond is that its reply is read by the link's goroutine, which wakes the caller's: a futex, a fifth of it"

// reasons say, by measurement and row, why a goal is missed, as its profile has
// it (BENCH_PROFILES). They are shown only where it is; after a change, make bench-docs.
var reasons = map[string]string{
	"roundtrip: " + worker.Holdfast:       wakes,
	"roundtrip-fake: " + worker.Holdfast:  wakes,
	"roundtrip: " + overHTTP:              "a request's way through net/http, twice, and two more processes to wake on two processors",
	"roundtrip: " + overSocket:            "as over TCP, less the loopback interface",
	"changes: " + worker.Holdfast:         "by profile the link's goroutine has half of the processor time, one event after another: a quarter of all is the WebSocket and its socket, a fifth the reading of what an actor that is behind leaves to it; the session's actor has a quarter, the task's a twentieth; the rest is the collector and the scheduler. The fake browser that writes the events has the same two processors",
	"memory: " + bothLinks:                whereMemoryIs,
	"memory: " + oneLink:                  whereMemoryIsOne,
	"memory-5000: " + bothLinks:           whereMemoryIs,
	"memory-5000: " + oneLink:             whereMemoryIsOne,
	"dialog: " + worker.Holdfast:          "every processor is asleep when it begins and nothing of the way is in a cache: by stamps along it, of what it takes beyond the loop, 65 to 100 µs, an eighth is scanning and decoding, a quarter handing over to the first actor, most of it for the processor that Go wakes whenever it makes a goroutine ready, a quarter the two steps that decide, a quarter the task's step and its publishing, a tenth who waits; an answer has three actors' steps more, some 40 µs, and the write, as the loop, which needs 125 to 170 µs itself",
	"attach: " + worker.Holdfast:          "the same commands, and some 0.5 ms of actors: 130 µs from the call to the dial, 75 from the link to its first command, 130 from the page's report to its batch, 170 from the frame tree to the caller",
	"stampede: " + worker.Holdfast:        "the two processors are full until the last: by profile the node takes 0.65 ms of one for a link that falls and comes back, the fake browser that answers it 0.35, the loop 0.33",
	"stampede-frames: " + worker.Holdfast: "as without iframes, and three sessions a link are attached where there was one, by the node and by the fake browser alike",
}

// Where memory is, by the heap's profile of a thousand tasks.
const (
	whereMemoryIs    = "by profile, in KiB: 21 are the library's two connections, 16 of them its buffers, of a size that cannot be set, and 8 their goroutines' stacks, so 29 before there is anything of ours; 6 the actors' processes, addresses and groups, 15 the sessions', forest's and task's machines with their lists and texts, 4 the views and the events for who was away, 4 the links' tables; 7 are spans that the start's garbage has left half filled, 3 the runtime's own tables, 2 pages of the program that starts have touched"
	whereMemoryIsOne = "by profile, in KiB: 10 are the library's connection, 8 of them its buffers, of a size that cannot be set, and 4 its goroutine's stack, so 14 before there is anything of ours; 5 the actors' processes, addresses and groups, 13 the sessions', forest's and task's machines with their lists and texts, 4 the views and the events for who was away, 2 the link's tables; 5 are spans that the start's garbage has left half filled, 2 the runtime's own tables, 2 pages of the program that starts have touched"
)
