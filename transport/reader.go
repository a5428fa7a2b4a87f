package transport

import (
	"context"
	"errors"
	"io"
	"runtime"
	"time"

	"github.com/coder/websocket"
)

// maxGarbage is how many frames in a row may be no JSON object before the link
// ends. The very first one may not: then it is no CDP endpoint at all.
const maxGarbage = 8

const (
	// readChunk bounds one Read, so that a long message counts as a sign of
	// life while it comes.
	readChunk = 256 << 10
	// tailSize is how much of a discarded message's end is kept.
	tailSize = 512
)

// newReader returns what the reader's goroutines read with, one after another.
func newReader(m *Mux) *reader {
	r := &reader{m: m, hint: smallBuffer, renewed: -renewBurst * renewEvery}
	r.again = r.read
	if m.conn.brink != nil {
		m.conn.brink.watch(r.dry, m.hear)
	}
	return r
}

// read is the reader's goroutine, until another takes its place: what a decoder
// needs of the stack is kept for as long as the goroutine lives, and is twice of
// what waiting for the next message needs.
func (r *reader) read() {
	defer func() {
		if v := recover(); v != nil {
			r.m.fail(panicked(v))
			r.m.running.Done()
		}
	}()
	for {
		r.isDeep = false
		end := r.next()
		if r.m.conn.brink == nil || end != nil {
			r.release()
			r.settle()
		}
		if end != nil {
			r.m.fail(end)
			r.m.running.Done()
			return
		}
		if r.isDeep && r.canRenew() {
			r.isReceived = r.m.gathering == nil // the receiver of the last message runs next, and not the new goroutine
			go r.again()
			return
		}
	}
}

// A new goroutine costs about as much as a message. A busy link is to have few.
const (
	renewEvery = time.Millisecond
	renewBurst = 32
)

// canRenew says whether the reader may be given a new goroutine now.
func (r *reader) canRenew() bool {
	now := time.Duration(r.m.heard.Load())
	r.renewed = max(r.renewed, now-renewBurst*renewEvery) + renewEvery
	if r.renewed > now {
		r.renewed -= renewEvery
		return false
	}
	return true
}

// reader takes messages off the socket, one at a time.
type reader struct {
	m          *Mux
	hint       int  // the size of the last message
	hasBegun   bool // a good message has come
	garbage    int  // bad ones in a row
	isReceived bool // the last message had a waiting receiver
	isDeep     bool // the last message had a receiver: the stack may have grown
	events     int  // handed out since the last look for more

	again   func()        // read; made once, for it would be made anew with every goroutine
	renewed time.Duration // since the link was born: all goroutines until then are accounted for

	buf      *buffer // nil while the link is idle
	isInside bool    // a message is being read into it

	// Unwanted events, counted here until there is nothing more to read: a page can send
	// hundreds of thousands a second, and all links share the counters.
	ignored, ignoredBytes uint64
}

// dry is called before the reader may have to wait, perhaps for the rest of a
// message.
func (r *reader) dry() {
	if !r.isInside {
		r.release()
	}
	r.settle()
	if r.events == 1 && !r.isInside {
		// As for a reply: an event that comes alone finds every goroutine asleep.
		runtime.Gosched()
	}
	r.events = 0
}

func (r *reader) release() {
	if r.buf != nil {
		putBuffer(r.buf)
		r.buf = nil
	}
}

// settle does what was put off while messages followed each other.
func (r *reader) settle() {
	r.m.settle()
	if r.ignored > 0 {
		r.m.stats.EventsIn.Add(r.ignored)
		r.m.stats.EventBytesIn.Add(r.ignoredBytes)
		r.m.stats.EventsIgnored.Add(r.ignored)
		r.ignored, r.ignoredBytes = 0, 0
	}
}

// hear notes that the peer is alive, where the brink does not.
func (r *reader) hear() {
	if r.m.conn.brink == nil {
		r.m.hear()
	}
}

// next reads one message and hands it out. What it returns ends the link.
func (r *reader) next() *LinkError {
	m := r.m
	if r.isReceived {
		// The waiting receiver runs next on this processor; that the socket is empty can be
		// found out while the browser has the next command.
		r.isReceived = false
		runtime.Gosched()
	}
	// No deadline of its own: in this library the end of a context is the end
	// of the connection.
	kind, src, err := m.conn.Reader(context.Background())
	if err != nil {
		return classify(err)
	}
	r.hear()
	if r.buf == nil {
		r.buf = getBuffer(r.hint)
	}
	r.isInside = true
	n := 0
	for {
		if n == len(r.buf.b) {
			if int64(n) > m.opts.MaxMessage {
				end := r.discard(src, r.buf.b)
				r.isInside = false
				return end
			}
			r.grow()
		}
		k, err := src.Read(r.buf.b[n:min(len(r.buf.b), n+readChunk)])
		n += k
		if err == io.EOF { //nolint:errorlint // an io.Reader's own, as it is
			break
		}
		if err != nil {
			return classify(err)
		}
		if k == readChunk {
			r.hear()
		}
	}
	r.isInside = false
	r.hint = min(n+1, bigBuffer)
	if int64(n) > m.opts.MaxMessage {
		m.countOther(n)
		m.tooLarge(r.buf.b[:n], nil)
		return nil
	}
	return r.handle(kind, r.buf.b[:n])
}

// grow takes a larger buffer with the same beginning, large enough for a
// message of the largest size and one byte more, which tells that it is over.
func (r *reader) grow() {
	bigger := getBuffer(min(nextSize(len(r.buf.b)), int(r.m.opts.MaxMessage+1)))
	copy(bigger.b, r.buf.b)
	putBuffer(r.buf)
	r.buf = bigger
}

// discard reads the rest of a message that is too large, and keeps its end.
func (r *reader) discard(src io.Reader, head []byte) *LinkError {
	rest := getBuffer(midBuffer)
	defer putBuffer(rest)
	var tail []byte
	size := len(head)
	defer func() { r.m.countOther(size) }()
	for {
		n, err := src.Read(rest.b)
		r.hear()
		size += n
		tail = append(tail, rest.b[:n]...)
		if len(tail) > tailSize {
			tail = append(tail[:0], tail[len(tail)-tailSize:]...)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return classify(err)
		}
	}
	r.m.tooLarge(head, tail)
	return nil
}

// tooLarge gives the call of a reply that was discarded its outcome. Chrome
// puts the id first; where it stands last it is found too. A reply with the id
// elsewhere is only counted: its call ends by its own deadline.
func (m *Mux) tooLarge(head, tail []byte) {
	m.settle()
	m.stats.Oversized.Add(1)
	e := scanCut(head)
	if !e.HasID && e.Method == nil {
		e.ID, e.HasID = idFromTail(tail)
	}
	if e.HasID && e.Method == nil && e.ID >= 0 && e.ID < untrackedIDBase {
		m.finish(e.ID, Reply{Err: ErrTooLarge})
	}
	if e.Method != nil {
		m.eventTooLarge(e.Method, head, tail)
	}
}

// handle tells a message's kind and hands it on.
func (r *reader) handle(kind websocket.MessageType, msg []byte) *LinkError {
	m := r.m
	if kind == websocket.MessageText && m.relay(msg) {
		r.hasBegun, r.garbage = true, 0
		m.countEvent(len(msg))
		r.isDeep = true
		r.events++
		return nil
	}
	// Most messages of a busy page are unwanted events: they end here, with only their
	// names looked at.
	name := ""
	if method := peekMethod(msg); method != nil && kind == websocket.MessageText && msg[len(msg)-1] == '}' {
		if name = m.wanted(method, msg); name == "" && string(method) != attachedEvent && string(method) != detachedEvent {
			r.hasBegun, r.garbage = true, 0
			r.ignored++
			r.ignoredBytes += uint64(len(msg))
			return nil
		}
		if name != "" && m.offer(msg, name) {
			r.hasBegun, r.garbage = true, 0
			m.countEvent(len(msg))
			r.isDeep = true
			r.events++
			return nil
		}
	}
	var e Envelope
	err := errBinary
	if kind == websocket.MessageText {
		e, err = Scan(msg)
	}
	if err != nil {
		m.countOther(len(msg))
		m.stats.Garbage.Add(1)
		if r.garbage++; !r.hasBegun || r.garbage >= maxGarbage {
			return &LinkError{Cause: CauseProtocol, Err: err}
		}
		return nil
	}
	r.hasBegun, r.garbage = true, 0
	switch {
	case e.HasID && e.Method == nil:
		m.stats.RepliesIn.Add(1)
		m.stats.ReplyBytesIn.Add(uint64(len(msg)))
		m.settle()
		// A guest's reply is most often written to it on this goroutine: that wakes no other, and a
		// yield or a new goroutine would wake a thread for nothing.
		isAwaited := !m.handleReply(e)
		r.isReceived, r.isDeep = isAwaited, isAwaited
	case e.HasID: // a command: the peer sends our own words back, or takes itself for the client
		m.countOther(len(msg))
		m.stats.Strange.Add(1)
	case e.Method != nil:
		m.countEvent(len(msg))
		r.isDeep = true
		r.events++
		m.handleEvent(e, name)
	case e.Error != nil:
		m.countOther(len(msg))
		m.stats.ErrorsWithout.Add(1)
	default:
		m.countOther(len(msg))
		m.stats.Strange.Add(1)
	}
	return nil
}

// wanted returns the wanted name that msg begins with, where peekMethod has found method.
// It returns "" for an unwanted message.
func (m *Mux) wanted(method, msg []byte) string {
	name, _ := m.wants.find(method)
	if name == "" || m.opts.Unwanted == nil {
		return name
	}
	if head, ok := paramsOf(msg, len(method)); ok && m.opts.Unwanted(name, head) {
		return ""
	}
	return name
}

func (m *Mux) countEvent(size int) {
	m.stats.EventsIn.Add(1)
	m.stats.EventBytesIn.Add(uint64(size))
}

func (m *Mux) countOther(size int) {
	m.stats.OthersIn.Add(1)
	m.stats.OtherBytesIn.Add(uint64(size))
}

var errBinary = errors.New("binary frame")

// hear notes that the peer is alive.
func (m *Mux) hear() { m.heard.Store(int64(m.now())) }
