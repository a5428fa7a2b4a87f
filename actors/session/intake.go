package session

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/internal/bounds"
	"holdfast/internal/guard"
	"holdfast/messages"
	"holdfast/transport"
)

// maxConsoleBacklog bounds the console errors that wait in a session's
// mailbox. The snapshot keeps the newest 50; a storm is shed at the door.
const maxConsoleBacklog = 1024

// Bounds of what is gathered before the actor gets it, and of an event that is left
// to the actor to decode: a longer one is decoded at once, and then it is short.
const (
	maxSaid      = 256
	maxSaidBytes = 64 << 10
	maxUnread    = 4 << 10
)

// behind is how many events may wait for an actor before the link's reader decodes
// what follows: the one who is slower gets less to do, and a browser that says more
// than both can take has to wait.
const behind = 256

// said is what a session's browser has said in one go, in order.
type said struct {
	items []saidItem
	text  []byte // of the events that are not decoded yet
}

// saidItem is a fact, or an event that the actor will decode.
type saidItem struct {
	fact     any
	method   string
	from, to int // of the event's params in text
}

var saids = sync.Pool{New: func() any { return new(said) }}

func (s *said) release() {
	if cap(s.text) > 2*maxSaidBytes {
		return
	}
	clear(s.items)
	s.items, s.text = s.items[:0], s.text[:0]
	saids.Put(s)
}

// trim gives up room that a larger one had, before it waits for who knows how long:
// thousands may.
func (s *said) trim() {
	if cap(s.text) > 4*len(s.text)+maxUnread {
		s.text = bytes.Clone(s.text)
	}
	if cap(s.items) > 4*len(s.items)+16 {
		s.items = slices.Clone(s.items)
	}
}

// isError says whether the item is a console error, as far as can be told.
func (it *saidItem) isError() bool {
	return it.method == consoleCalled || it.method == "Runtime.exceptionThrown"
}

// decode returns the fact of an item, nil where there is none.
func (s *said) decode(c *Config, i int) any {
	if it := &s.items[i]; it.fact == nil {
		return decode(*c, time.Time{}, it.method, s.text[it.from:it.to])
	}
	return s.items[i].fact
}

// intake takes a session's events from the link and gathers those that come in one
// go: a page that says a lot wakes its actor now and then, and not for each word of
// it. All of it is the reader's, but for what is counted.
type intake struct {
	cfg    *Config
	mux    *transport.Mux
	door   guard.Door
	queued *queued
	bounds *bounds.Counts
	said   *said // nil where nothing waits
	unread bool  // the actor has time to decode what is gathered now
}

// queued is what waits for an actor of what its session has said.
type queued struct {
	events atomic.Int64 // that were gathered
	errors atomic.Int64 // of the console
}

// take is called by the link for every event.
func (in *intake) take(e transport.Event) {
	if e.Method == dialogOpening {
		// It comes alone, and is waited for.
		in.settle()
		if fact := decode(*in.cfg, time.Now(), e.Method, e.Params); fact != nil && !in.door.Send(fact) {
			in.mux.Flood()
		}
		return
	}
	if in.said == nil {
		in.said = saids.Get().(*said)
		in.unread = in.queued.events.Load() < behind
	}
	item := saidItem{method: e.Method}
	if !in.unread || len(e.Params) > maxUnread || !isFrequent(e) {
		if item.fact = decode(*in.cfg, time.Now(), e.Method, e.Params); item.fact == nil {
			return
		}
	}
	if item.isError() && in.queued.errors.Add(1) > maxConsoleBacklog {
		in.queued.errors.Add(-1)
		in.bounds.Hit(bounds.ConsoleErrors)
		return
	}
	s := in.said
	if item.fact == nil {
		item.from = len(s.text)
		s.text = append(s.text, e.Params...)
		item.to = len(s.text)
	}
	s.items = append(s.items, item)
	if len(s.items) >= maxSaid || len(s.text) >= maxSaidBytes {
		in.settle()
	}
}

// settle is called by the link before anything else happens.
func (in *intake) settle() {
	s := in.said
	if s == nil {
		return // it was full with the last event
	}
	in.said = nil
	heard := true
	switch n := len(s.items); n {
	case 0:
		s.release()
	case 1:
		fact := s.decode(in.cfg, 0)
		if fact == nil && s.items[0].isError() {
			in.queued.errors.Add(-1)
		}
		heard = fact == nil || in.door.Send(fact)
		s.release()
	default:
		in.queued.events.Add(int64(n))
		s.trim()
		heard = in.door.SendSeveral(s, n)
	}
	if !heard {
		// What is lost shows in no later event: everything is learned anew.
		in.mux.Flood()
	}
}

// isFrequent says whether pages can cause an event by the thousand. To decode it takes
// as long as to take it off the link, so the actor does that.
func isFrequent(e transport.Event) bool {
	return e.Method == "Page.frameNavigated" || e.Method == consoleCalled && isConsoleError(e.Params)
}

// receiveSaid has the machine take one fact after another, as if each had come by
// itself. What follows from them for the frames, and what they say of the console, is
// gathered as well.
func (p *Page) receiveSaid(c *guard.Context, s *said) {
	now := c.Now()
	p.gathering = true
	for i := range s.items {
		fact := s.decode(p.machine.cfg, i)
		if s.items[i].isError() {
			p.queued.errors.Add(-1)
		}
		if fact == nil {
			continue
		}
		if r, ok := fact.(messages.ConsoleReported); ok {
			p.countCut(r)
		}
		p.carryOut(c, p.machine.Step(now, fact))
	}
	p.gathering = false
	p.sendGathered(c)
	p.queued.events.Add(-int64(len(s.items)))
	s.release()
}

func (p *Page) countCut(r messages.ConsoleReported) {
	if r.Cut {
		p.bounds.Hit(bounds.ConsoleText)
	}
}

// gathered is what waits to be sent together.
type gathered struct{ toFrame, toSupervisor messages.Facts }

// gather keeps the effect back, if it is one that comes by the thousand. Everything
// else comes behind what was kept.
func (p *Page) gather(c *guard.Context, e Effect) bool {
	switch e := e.(type) {
	case ToFrame:
		p.kept.toFrame = append(p.kept.toFrame, e.Msg)
		return true
	case ToSupervisor:
		if _, ok := e.Msg.(messages.ConsoleReported); ok {
			p.kept.toSupervisor = append(p.kept.toSupervisor, e.Msg)
			return true
		}
	}
	p.sendGathered(c)
	return false
}

func (p *Page) sendGathered(c *guard.Context) {
	kept := p.kept
	p.kept = gathered{}
	sendFacts(c, p.peers.Frame, kept.toFrame)
	sendFacts(c, p.peers.Supervisor, kept.toSupervisor)
}

func sendFacts(c *guard.Context, to *actor.PID, facts messages.Facts) {
	switch len(facts) {
	case 0:
	case 1:
		c.Send(to, facts[0])
	default:
		c.SendSeveral(to, facts, len(facts))
	}
}
