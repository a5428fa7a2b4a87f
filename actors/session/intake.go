package session

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/page"
	"holdfast/internal/guard"
	"holdfast/internal/shed"
	"holdfast/messages"
	"holdfast/messages/mail"
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
	// More than this has a room.
	smallSaid      = 8
	smallSaidBytes = maxUnread
)

// behind is how many events may wait for an actor before the link's reader decodes
// what follows: the one who is slower gets less to do, and a browser that says more
// than both can take has to wait.
const behind = 256

// said is what a session's browser has said in one go, in order.
type said struct {
	items  []saidItem
	text   []byte // of the events that are not decoded yet
	errors int    // of the items
	room   *room  // where both stand, of one that has become long
	same   decode.Repeated
}

// room is for as much as may be gathered. It is lent while a page says a lot, and
// goes from one session to the next: to make it, and to collect it, would cost more
// than to read what is put into it.
type room struct {
	items []saidItem
	text  []byte
}

var rooms = sync.Pool{New: func() any {
	return &room{items: make([]saidItem, 0, maxSaid), text: make([]byte, 0, maxSaidBytes+maxUnread)}
}}

// saidItem is a fact, or an event that the actor will decode.
type saidItem struct {
	fact     any
	method   string
	from, to int // of the event's params in text
}

var saids = sync.Pool{New: func() any { return new(said) }}

// grow moves what there is into a room.
func (s *said) grow() {
	s.room = rooms.Get().(*room)
	s.items, s.text = append(s.room.items, s.items...), append(s.room.text, s.text...)
}

// add puts an item behind the others, with the params of one that is not decoded.
func (s *said) add(item saidItem, params []byte) {
	if s.room == nil && (len(s.items) == smallSaid || len(s.text)+len(params) > smallSaidBytes) {
		s.grow()
	}
	if item.fact == nil {
		item.from = len(s.text)
		s.text = append(s.text, params...)
		item.to = len(s.text)
	}
	if item.isError() {
		s.errors++
	}
	s.items = append(s.items, item)
}

func (s *said) release() {
	clear(s.items)
	switch {
	case s.room != nil:
		rooms.Put(s.room)
		*s = said{}
	case cap(s.items) > 2*smallSaid || cap(s.text) > 2*smallSaidBytes: // it was trimmed
		*s = said{}
	}
	s.items, s.text, s.errors, s.same = s.items[:0], s.text[:0], 0, decode.Repeated{}
	saids.Put(s)
}

// trim gives up room of which little is used, before it waits for who knows how long:
// thousands may.
func (s *said) trim() {
	if s.room == nil || 4*len(s.text) > cap(s.text) || 4*len(s.items) > cap(s.items) {
		return
	}
	items, text := slices.Clone(s.items), bytes.Clone(s.text)
	clear(s.items)
	rooms.Put(s.room)
	*s = said{items: items, text: text, errors: s.errors, same: s.same}
}

// isError says whether the item is a console error, as far as can be told.
func (it *saidItem) isError() bool {
	return it.method == decode.ConsoleCalled || it.method == "Runtime.exceptionThrown"
}

// decode returns the fact of an item, nil where there is none.
func (s *said) decode(c *decode.Source, i int) any {
	it := &s.items[i]
	if it.fact != nil {
		return it.fact
	}
	return decode.Unread(c, &s.same, it.method, s.text[it.from:it.to])
}

// intake takes a session's events from the link and gathers those that come in one
// go: a page that says a lot wakes its actor now and then, and not for each word of
// it. All of it is the reader's, but for what is counted.
type intake struct {
	cfg              *page.Config
	source           decode.Source
	mux              *transport.Mux
	door             guard.Door
	queued           *queued
	bounds           *shed.Counts
	said             *said // nil where nothing waits
	canDeferDecoding bool  // the actor has time to decode what is gathered now
}

// queued is what waits for an actor of what its session has said.
type queued struct {
	events atomic.Int64 // that were gathered
	errors atomic.Int64 // of the console
}

// take is called by the link for every event.
func (in *intake) take(e transport.Event) {
	if e.Method == decode.DialogOpening {
		// It comes alone, and is waited for.
		in.settle()
		if fact := decode.Event(&in.source, &decode.Repeated{}, time.Now(), e.Method, e.Params); fact != nil && !in.door.Send(fact) {
			in.mux.Flood()
		}
		return
	}
	in.begin()
	if fact := decode.Event(&in.source, &in.said.same, time.Now(), e.Method, e.Params); fact != nil {
		if f, ok := fact.(mail.FrameNavigated); ok && in.cfg.Site != nil && messages.TargetID(f.Frame.ID) == in.cfg.Target {
			// Before a reply that comes behind it: what an agent sets is for this document.
			in.cfg.Site.Show(f.Frame.URL)
		}
		in.keep(saidItem{method: e.Method, fact: fact}, nil)
	}
}

// takeUnread is take for an event that has not been scanned. It takes frequent events: the
// actor decodes them, or this code does if the actor is not behind.
func (in *intake) takeUnread(e transport.Event) bool {
	if !decode.IsFrequent(e.Method, e.Params) || in.cfg.Site != nil && e.Method == decode.FrameNavigated {
		return false
	}
	in.begin()
	item := saidItem{method: e.Method}
	if !in.canDeferDecoding || len(e.Params) > maxUnread {
		if item.fact = decode.Frequent(&in.source, &in.said.same, e.Method, e.Params); item.fact == nil {
			return false
		}
	}
	in.keep(item, e.Params)
	return true
}

func (in *intake) begin() {
	if in.said == nil {
		in.said = saids.Get().(*said)
		in.canDeferDecoding = in.queued.events.Load() < behind
	}
}

func (in *intake) keep(item saidItem, params []byte) {
	if item.isError() && in.queued.errors.Add(1) > maxConsoleBacklog {
		in.queued.errors.Add(-1)
		in.bounds.Hit(shed.ConsoleErrors)
		return
	}
	s := in.said
	s.add(item, params)
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
		fact := s.decode(&in.source, 0)
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

// receiveSaid has the machine take one fact after another, as if each had come by
// itself. What follows from them for the frames, and what they say of the console, is
// gathered as well.
func (p *Page) receiveSaid(c *guard.Context, s *said) {
	now := c.Now()
	p.isGathering, p.kept.errorsLeft, p.kept.othersLeft = true, s.errors, len(s.items)-s.errors
	for i := range s.items {
		it := &s.items[i]
		if it.isError() {
			p.queued.errors.Add(-1)
		}
		if it.fact == nil && it.method == decode.ConsoleCalled {
			// As the machine does no more with it than to pass it on, it is no fact.
			if r, ok := decode.ScanConsole(&p.source, &s.same, s.text[it.from:it.to]); ok {
				p.gatherError(&r)
				continue
			}
		}
		switch fact := s.decode(&p.source, i).(type) {
		case nil:
		case mail.ConsoleReported:
			p.gatherError(&fact)
		default:
			p.carryOut(c, p.machine.Step(now, fact))
		}
	}
	p.isGathering = false
	p.sendGathered(c)
	p.queued.events.Add(-int64(len(s.items)))
	s.release()
}

func (p *Page) countCut(r mail.ConsoleReported) {
	if r.IsCut {
		p.bounds.Hit(shed.ConsoleText)
	}
}

// gathered is what waits to be sent together.
type gathered struct {
	toFrame mail.Facts
	errors  []messages.ConsoleError

	errorsLeft, othersLeft int // of what was said, at most
}

func (p *Page) gatherError(r *mail.ConsoleReported) {
	p.countCut(*r)
	if p.kept.errors == nil {
		p.kept.errors = make([]messages.ConsoleError, 0, max(1, p.kept.errorsLeft))
	}
	p.kept.errorsLeft--
	p.kept.errors = append(p.kept.errors, r.Entry)
}

// gather keeps the effect back, if it is one that comes by the thousand. Everything
// else comes behind what was kept.
func (p *Page) gather(c *guard.Context, e effect.Effect) bool {
	if e, ok := e.(effect.ToFrame); ok {
		if p.kept.toFrame == nil {
			p.kept.toFrame = make(mail.Facts, 0, max(1, p.kept.othersLeft))
		}
		p.kept.othersLeft--
		p.kept.toFrame = append(p.kept.toFrame, e.Msg)
		return true
	}
	p.sendGathered(c)
	return false
}

func (p *Page) sendGathered(c *guard.Context) {
	kept := p.kept
	p.kept.toFrame, p.kept.errors = nil, nil
	switch n := len(kept.toFrame); n {
	case 0:
	case 1:
		c.Send(p.peers.Frame, kept.toFrame[0])
	default:
		c.SendSeveral(p.peers.Frame, kept.toFrame, n)
	}
	if n := len(kept.errors); n > 0 {
		cfg := p.machine.Config()
		c.SendSeveral(p.peers.Supervisor, mail.ConsoleReports{Gen: cfg.Gen, Page: cfg.Page, Target: cfg.Target, Entries: kept.errors}, n)
	}
}
