package guard

import (
	"sync/atomic"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// DefaultMailbox is how many messages may wait for an actor of which nothing
// else is said: what a page with a thousand frames causes at once, several times.
const DefaultMailbox = 1 << 15

// Order is a message with an answer. An order that finds its actor's mailbox half full is
// refused, so that the rest of the mailbox stays free for facts, which cannot be refused.
type Order interface {
	// ReplyTo is the call that waits for the answer; zero for none.
	ReplyTo() mail.Call
}

// Urgent is a message that can overtake what else waits for its actor: an answer of a person
// or an agent waits behind no work of pages. Messages that overtake keep their order. A sender
// marks a message only where its place among the facts before it does not matter.
type Urgent interface{ IsUrgent() bool }

func isUrgent(msg any) bool {
	u, ok := msg.(Urgent)
	return ok && u.IsUrgent()
}

// ErrFlooded is the cause of the Failure of an actor whose mailbox was full: a
// message was lost, so that what it knows is not to be trusted. What follows is
// what follows a panic; who restarts it has it learn everything anew.
var ErrFlooded = messages.Errorf(messages.CodeUpstreamUnavailable, "more was said than could be heard")

// errFull is what an order gets whose actor has too much to do.
var errFull = messages.Errorf(messages.CodeLimitReached, "too much waits to be done there; try again in a moment").
	WithSent(messages.SentNo).With("retry_after_s", 1)

// errEnded is what an order gets that comes to an actor which is ending, or has ended: it
// was not carried out.
var errEnded = messages.Errorf(messages.CodeUpstreamUnavailable, "the actor that carries it out has just ended").
	WithSent(messages.SentNo)

// mailbox counts what waits in the queue, which has no bound: up where a
// message is sent, down once it has been handled.
type mailbox struct {
	waiting atomic.Int64
	// half of the bound: from here on orders are refused.
	half    int64
	flooded atomic.Bool
}

// several is a message that counts for more than one: facts that were gathered on
// their way. What waits is bounded by the facts, however they come.
type several struct {
	msg   any
	count int64
}

// settleEvery is after how many messages of a batch the count is put right.
const settleEvery = 64

// isBehind says whether the mailbox is half full.
func (m *mailbox) isBehind() bool { return m.waiting.Load() > m.half }

// admitCrowded decides about a message that is the n-th in a mailbox more than half
// full. It has been counted already, for as many as it counts.
func (p *proc) admitCrowded(n int64, msg any, count int64) (deliver bool) {
	if p.sys.Refuse(msg, errFull) {
		p.drop(count)
		return false
	}
	if n <= 2*p.mail.half {
		return true
	}
	p.drop(count)
	if !p.spec.CanShed && p.mail.flooded.CompareAndSwap(false, true) {
		p.tell(wake{}) // it looks up when it comes to this, at the latest
	}
	return false
}

// drop takes back the count of a message that is not delivered.
func (p *proc) drop(count int64) {
	p.mail.waiting.Add(-count)
	p.sys.countDropped(p.spec.Kind, count)
}

// Door is the way into an actor for what comes from outside and cannot be held
// up there: what a browser says. It may be used on any goroutine.
type Door struct{ p *proc }

// Door returns the actor's own.
func (c *Context) Door() Door { return Door{c.p} }

// Send sends msg, unless the actor or its parent is half a mailbox behind. Then it returns
// false, and the sender has to make up for the loss: what the actor learns from then on is
// incomplete.
func (d Door) Send(msg any) bool {
	if d.refuseBehind(1) {
		return false
	}
	d.p.sys.Send(d.p.pid, msg)
	return true
}

// SendSeveral is Send for a message that stands for so many.
func (d Door) SendSeveral(msg any, count int) bool {
	if d.refuseBehind(count) {
		return false
	}
	if d.p.sys.procs.load(d.p.pid) != nil {
		d.p.deliverSeveral(several{msg, int64(count)}, nil, nil)
	} else {
		d.p.sys.Send(d.p.pid, msg) // a dead letter like any other
	}
	return true
}

func (d Door) refuseBehind(count int) bool {
	closed := d.p.mail.isBehind() || d.p.parent != nil && d.p.parent.mail.isBehind()
	if closed {
		d.p.sys.countDropped(d.p.spec.Kind, int64(count))
	}
	return closed
}

func (s *System) countDropped(kind string, count int64) {
	n, ok := s.dropped.Load(kind)
	if !ok {
		n, _ = s.dropped.LoadOrStore(kind, new(atomic.Uint64))
	}
	n.(*atomic.Uint64).Add(uint64(count))
}

// Mailboxes calls each for every kind of actor that lives, or of which a message
// was dropped: with the length of the longest mailbox, and how many messages
// were dropped since the System began. It walks all actors, and holds up none.
func (s *System) Mailboxes(each func(kind string, longest int, dropped uint64)) {
	longest := map[string]int{}
	s.dropped.Range(func(kind, _ any) bool {
		longest[kind.(string)] = 0
		return true
	})
	s.mu.Lock()
	roots := make([]*proc, 0, len(s.roots))
	for p := range s.roots {
		roots = append(roots, p)
	}
	s.mu.Unlock()
	for _, p := range roots {
		p.walk(func(p *proc) {
			longest[p.spec.Kind] = max(longest[p.spec.Kind], int(p.mail.waiting.Load()))
		})
	}
	for kind, n := range longest {
		var dropped uint64
		if d, ok := s.dropped.Load(kind); ok {
			dropped = d.(*atomic.Uint64).Load()
		}
		each(kind, n, dropped)
	}
}

// walk visits an actor and all below it.
func (p *proc) walk(visit func(*proc)) {
	visit(p)
	p.mu.Lock()
	kids := make([]*proc, 0, p.kids.Len())
	for _, k := range p.kids.All() {
		kids = append(kids, k)
	}
	p.mu.Unlock()
	for _, k := range kids {
		k.walk(visit)
	}
}
