package transport

import (
	"errors"
	"runtime"

	"holdfast/internal/ws"
)

// maxGarbage is how many frames in a row may be no JSON object before the link
// ends. The very first one may not: then it is no CDP endpoint at all.
const maxGarbage = 8

// read is the reader's goroutine.
func (m *Mux) read() {
	defer m.running.Done()
	r := newReader(m)
	defer r.release()
	for {
		end := r.take()
		if end == nil {
			end = r.fill()
		}
		if end != nil {
			r.count()
			m.fail(end)
			return
		}
	}
}

// reader takes messages off the socket and hands them out where they lie: in one
// buffer with whatever came with them.
type reader struct {
	m        *Mux
	buf      *buffer // nil while the link is idle
	from, to int     // what of it is not handed out yet: buf.b[from:to]
	need     int     // how long that has to become
	size     int     // of the next buffer
	room     func() []byte
	idle     func()

	kind  ws.Opcode // of the message that comes in pieces; 0 while there is none
	parts []byte    // what of it has come
	over  *oversized

	begun   bool // a good message has come
	garbage int  // bad ones in a row
	told    bool // somebody's reply was among the last messages

	// Events that nobody wants, counted here until the socket is empty: a page
	// can send hundreds of thousands a second, and all links share the counters.
	ignored, ignoredBytes uint64
}

func newReader(m *Mux) *reader {
	r := &reader{m: m, size: smallBuffer, need: ws.Headroom}
	r.room, r.idle = r.makeRoom, r.rest
	return r
}

// fill waits for bytes.
func (r *reader) fill() *LinkError {
	r.count()
	if r.told {
		// Whoever waits for the reply is next on this processor; that the socket
		// is empty can be found out while the browser has the next command.
		r.told = false
		runtime.Gosched()
	}
	if r.from == r.to {
		r.release()
	}
	n, err := r.m.conn.Read(r.room, r.idle)
	if err != nil {
		return classify(err)
	}
	r.to += n
	if r.size = smallBuffer; r.to == len(r.buf.b) {
		r.size = midBuffer // there is more where that came from
	}
	r.m.hear()
	return nil
}

// makeRoom returns the free part of the buffer. A buffer grows when it is full,
// not when a header says that much is to come.
func (r *reader) makeRoom() []byte {
	switch {
	case r.buf == nil:
		r.buf, r.from, r.to = getBuffer(r.size), 0, 0
	case r.from > 0 && len(r.buf.b)-r.from < r.need:
		r.to, r.from = copy(r.buf.b, r.buf.b[r.from:r.to]), 0
	}
	if r.to == len(r.buf.b) {
		r.grow()
	}
	return r.buf.b[r.to:]
}

func (r *reader) grow() {
	bigger := getBuffer(nextSize(len(r.buf.b), r.need))
	r.to = copy(bigger.b, r.buf.b[r.from:r.to])
	r.from = 0
	putBuffer(r.buf)
	r.buf = bigger
}

// rest gives the buffer back before a wait, if there is nothing in it.
func (r *reader) rest() {
	if r.from == r.to {
		r.release()
	}
}

func (r *reader) release() {
	if r.buf != nil {
		putBuffer(r.buf)
		r.buf, r.from, r.to = nil, 0, 0
	}
}

// take hands out what has come whole. What it returns ends the link.
func (r *reader) take() *LinkError {
	for r.from < r.to {
		have := r.buf.b[r.from:r.to]
		if r.over != nil && r.over.left > 0 {
			r.from += r.over.add(have)
			r.endOversized()
			continue
		}
		h, n, err := ws.ParseHeader(have)
		switch {
		case err != nil:
			return brokenProtocol(err)
		case n == 0:
			r.need = ws.Headroom
			return nil
		case !h.Op.IsControl() && (h.Op == ws.Continuation) != (r.kind != 0):
			return brokenProtocol(ws.ProtocolError("pieces of messages in disorder"))
		case !h.Op.IsControl() && (r.over != nil || int64(len(r.parts))+h.Length > r.m.opts.MaxMessage):
			r.from += n
			r.discard(h)
			continue
		case int64(len(have)-n) < h.Length:
			r.need = n + int(h.Length)
			return nil
		}
		payload := have[n : n+int(h.Length)]
		r.from += len(payload) + n
		if end := r.frame(h, payload); end != nil {
			return end
		}
	}
	r.need = ws.Headroom
	return nil
}

// frame handles a frame that has come whole.
func (r *reader) frame(h ws.Header, payload []byte) *LinkError {
	switch {
	case h.Op.IsControl():
		return r.control(h.Op, payload)
	case h.Fin && r.kind == 0:
		return r.handle(h.Op, payload)
	}
	if r.kind == 0 {
		r.kind = h.Op
	}
	r.parts = append(r.parts, payload...)
	if !h.Fin {
		return nil
	}
	kind, msg := r.kind, r.parts
	r.kind, r.parts = 0, nil
	return r.handle(kind, msg)
}

func (r *reader) control(op ws.Opcode, payload []byte) *LinkError {
	switch op {
	case ws.Ping:
		r.m.pong(payload)
	case ws.Close:
		code, reason, err := ws.CloseStatus(payload)
		if err != nil {
			return brokenProtocol(err)
		}
		return saidGoodbye(code, reason)
	}
	return nil // of a pong it counts that it came
}

// handle tells a message's kind and hands it on.
func (r *reader) handle(kind ws.Opcode, msg []byte) *LinkError {
	m := r.m
	// Most of a busy page's messages are events nobody wants: they end here,
	// with only their names looked at.
	if method := peekMethod(msg); method != nil && kind == ws.Text && msg[len(msg)-1] == '}' {
		if _, wanted := m.wants.find(method); !wanted && string(method) != attachedEvent && string(method) != detachedEvent {
			r.begun, r.garbage = true, 0
			r.ignored++
			r.ignoredBytes += uint64(len(msg))
			return nil
		}
	}
	r.count()
	var e Envelope
	err := errBinary
	if kind == ws.Text {
		e, err = Scan(msg)
	}
	if err != nil {
		m.countOther(len(msg))
		m.stats.Garbage.Add(1)
		if r.garbage++; !r.begun || r.garbage >= maxGarbage {
			return &LinkError{Cause: CauseProtocol, Err: err}
		}
		return nil
	}
	r.begun, r.garbage = true, 0
	switch {
	case e.HasID && e.Method == nil:
		m.stats.RepliesIn.Add(1)
		m.stats.ReplyBytesIn.Add(uint64(len(msg)))
		m.handleReply(e)
		r.told = true
	case e.HasID: // a command: the peer sends our own words back, or takes itself for the client
		m.countOther(len(msg))
		m.stats.Strange.Add(1)
	case e.Method != nil:
		m.countEvent(len(msg))
		m.handleEvent(e)
	case e.Error != nil:
		m.countOther(len(msg))
		m.stats.ErrorsWithout.Add(1)
	default:
		m.countOther(len(msg))
		m.stats.Strange.Add(1)
	}
	return nil
}

// count adds what was counted here to the node's.
func (r *reader) count() {
	if r.ignored == 0 {
		return
	}
	s := r.m.stats
	s.EventsIn.Add(r.ignored)
	s.EventBytesIn.Add(r.ignoredBytes)
	s.EventsIgnored.Add(r.ignored)
	r.ignored, r.ignoredBytes = 0, 0
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
