package guard

import (
	"sync"
	"sync/atomic"

	"github.com/anthdm/hollywood/actor"
)

// queue is what waits for an actor, and who is to come for it. An idle actor has
// neither a goroutine nor memory for messages.
type queue struct {
	mu      sync.Mutex // protects what follows
	turn    turn
	by      *proc            // who is to come, of an actor that is handed
	waiting *batch           // in order; nil where nothing waits
	urgent  []actor.Envelope // in order; handled before what else waits
	spare   *batch           // the one before, empty; nil while there is nothing to do

	hasUrgent atomic.Bool // urgent is not empty; read without mu
}

// batch holds messages that an actor takes together. Small batches are pooled: an idle
// actor has none.
type batch struct{ letters []actor.Envelope }

var batches = sync.Pool{New: func() any { return &batch{make([]actor.Envelope, 0, room)} }}

// turn says whose turn it is.
type turn uint8

const (
	unstarted turn = iota // not started: messages wait
	idle                  // there is nothing to do
	handed                // the goroutine's of by, once by has nothing to do
	busy                  // that of a goroutine's
	shut                  // closed: messages are dropped
)

// put queues a message and makes sure that a goroutine handles it. from is the sending
// actor, if this message is nearly the last thing it does: then its own goroutine runs the
// receiver next, which saves a wake-up. It takes one actor along; if it does not get to it
// soon, the next sender starts a goroutine.
func (p *proc) put(env actor.Envelope, from *proc) {
	q := &p.queue
	q.mu.Lock()
	if q.turn == shut {
		q.mu.Unlock()
		p.sys.Refuse(env.Msg, errEnded)
		return
	}
	defer q.mu.Unlock()
	if isUrgent(env.Msg) {
		q.urgent = append(q.urgent, env)
		q.hasUrgent.Store(true)
	} else {
		q.keep(env)
	}
	switch {
	case q.turn == idle && from != nil && from.next == nil:
		q.turn, q.by, from.next = handed, from, p
	case q.turn == idle, q.turn == handed && q.by != from:
		q.turn, q.by = busy, nil
		go work(p)
	}
}

// keep appends a message to what waits in order.
func (q *queue) keep(env actor.Envelope) {
	if q.waiting == nil {
		if q.waiting, q.spare = q.spare, nil; q.waiting == nil {
			q.waiting = batches.Get().(*batch)
		}
	}
	q.waiting.letters = append(q.waiting.letters, env)
}

// next returns the oldest urgent message, if there is one.
func (q *queue) next() (actor.Envelope, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.urgent) == 0 {
		return actor.Envelope{}, false
	}
	env := q.urgent[0]
	if q.urgent = q.urgent[1:]; len(q.urgent) == 0 {
		q.urgent = nil
		q.hasUrgent.Store(false)
	}
	return env, true
}

// open begins an actor's life.
func (q *queue) open(p *proc) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.turn == unstarted {
		q.turn = busy
		go work(p)
	}
}

// close drops what waits, which it returns, and all that comes.
func (q *queue) close() (dropped []actor.Envelope) {
	q.mu.Lock()
	defer q.mu.Unlock()
	dropped = q.urgent
	if q.waiting != nil {
		dropped = append(dropped, q.waiting.letters...)
	}
	q.turn, q.waiting, q.spare, q.urgent = shut, nil, nil, nil
	q.hasUrgent.Store(false)
	return dropped
}

// take returns the waiting messages in order. It returns nil when there are none, and then
// no goroutine has the turn.
func (q *queue) take() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting == nil && len(q.urgent) > 0 {
		q.waiting, q.spare = q.spare, nil
		if q.waiting == nil {
			q.waiting = batches.Get().(*batch)
		}
		q.waiting.letters = append(q.waiting.letters, q.urgent...)
		q.urgent = nil
		q.hasUrgent.Store(false)
	}
	if q.waiting != nil {
		b := q.waiting
		q.waiting = nil
		return b
	}
	if q.turn == busy {
		q.turn = idle
	}
	if q.spare != nil && cap(q.spare.letters) <= sharedRoom {
		batches.Put(q.spare)
	}
	q.spare = nil
	return nil
}

// For how many messages a new batch has room, one that others may have next, and one
// that a busy actor keeps.
const (
	room       = 4
	sharedRoom = 64
	busyRoom   = 4096
)

// giveBack returns a batch of which nothing is used any more.
func (q *queue) giveBack(b *batch) {
	clear(b.letters)
	b.letters = b.letters[:0]
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.turn != shut && cap(b.letters) <= busyRoom {
		q.spare = b
	}
}

// claim takes the turn that by was handed, unless another goroutine has taken it.
func (p *proc) claim(by *proc) bool {
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	if p.queue.turn != handed || p.queue.by != by {
		return false
	}
	p.queue.turn, p.queue.by = busy, nil
	return true
}

// work is the goroutine of an actor that has something to do, and after it of
// the one to which that led, and so on.
func work(p *proc) {
	growStack(false)
	for p != nil {
		p = p.run()
	}
}

// growStack grows a new goroutine's stack while it is all but empty, to what most
// messages need. Else it would be copied several times on the way down, which
// costs more than many a message.
//
//go:noinline
func growStack(never bool) {
	if never { // the frame counts, not what is in it
		var frame [8 << 10]byte
		fill(frame[:])
	}
}

//go:noinline
func fill(b []byte) { clear(b) }

// run lets the actor do what there is to do, and returns who is next.
func (p *proc) run() *proc {
	for {
		next := p.next
		p.next = nil // before it may be another's turn
		batch := p.queue.take()
		if next != nil && !next.claim(p) {
			next = nil
		}
		if batch == nil {
			return next
		}
		if next != nil {
			go work(next) // this one is not done yet
		}
		p.Invoke(batch.letters)
		p.queue.giveBack(batch)
	}
}

// handing returns p if what it sends now may be handled on this goroutine after
// it: an actor that hangs before that holds nothing up that it had not sent in
// its very last step.
func (p *proc) handing() *proc {
	if p.isLast && p.phase == running {
		return p
	}
	return nil
}
