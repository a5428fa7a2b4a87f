package main

import (
	"holdfast/internal/bench/worker"
)

const wakes = "by profile half of a call is the socket, as the loop's; what it has beyond is that its reply is read by the link's goroutine, which wakes the caller's: a futex, a fifth of it"

// reasons say, by measurement and row, why a goal is missed, as its profile has
// it (BENCH_PROFILES). They are shown only where it is.
var reasons = map[string]string{
	"roundtrip: " + worker.Holdfast:      wakes,
	"roundtrip-fake: " + worker.Holdfast: wakes,
	"roundtrip: " + overHTTP:             "a request's way through net/http, twice, and two more processes to wake on two processors",
	"changes: " + worker.Holdfast:        "an event passes three actors and comes out in a view, where chromedp hands it to a listener and keeps nothing of the console; by profile 6 µs of processor time each, of which two fifths walk the event's text",
	"memory: " + bothLinks:               whereMemoryIs,
	"memory-one: " + oneLink:             whereMemoryIs,
	"memory-5000: " + bothLinks:          whereMemoryIs,
	"memory-5000-one: " + oneLink:        whereMemoryIs,
	"dialog: " + worker.Holdfast:         "from the link three actors on, each a hand-over, and every processor asleep when it begins; by profile two fifths are the actors' steps for both links' telling, a fifth the socket, a fifth waking goroutines",
	"attach: " + worker.Holdfast:         "the same commands, but the replies go through the page's, the forest's and the task's actors before it is active",
	"stampede: " + worker.Holdfast:       "the two processors are full until the last: by profile the node takes 0.65 ms of one for a link that falls and comes back, the fake browser that answers it 0.35, the loop 0.33",
}

// whereMemoryIs is by the heap's profile of a thousand tasks with both links.
const whereMemoryIs = "with both links the heap is some 64 KiB of it: 18 are the library's buffers for reading and writing, 11 the actors' processes and mailboxes, the rest their machines, ledgers and views; beyond the heap are stacks, and spans that the garbage of the start has left half filled"
