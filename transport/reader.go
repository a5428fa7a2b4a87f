package transport

import (
	"context"
	"errors"
	"io"
	"runtime"

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

// read is the reader's goroutine.
func (m *Mux) read() {
	defer m.running.Done()
	r := reader{m: m, hint: smallBuffer}
	for {
		if end := r.next(); end != nil {
			m.fail(end)
			return
		}
	}
}

// reader takes messages off the socket, one at a time.
type reader struct {
	m       *Mux
	hint    int  // the size of the last message
	begun   bool // a good message has come
	garbage int  // bad ones in a row
	told    bool // the last message was somebody's reply
}

// next reads one message and hands it out. What it returns ends the link.
func (r *reader) next() *LinkError {
	m := r.m
	if r.told {
		// Whoever waits for the reply is next on this processor; that the socket
		// is empty can be found out while the browser has the next command.
		r.told = false
		runtime.Gosched()
	}
	// No deadline of its own: in this library the end of a context is the end
	// of the connection.
	kind, src, err := m.conn.Reader(context.Background())
	if err != nil {
		return classify(err)
	}
	m.hear()
	buf := getBuffer(r.hint)
	defer func() { putBuffer(buf) }()
	n := 0
	for {
		if n == len(buf.b) {
			if int64(n) > m.opts.MaxMessage {
				return r.discard(src, buf.b)
			}
			buf = r.grow(buf)
		}
		k, err := src.Read(buf.b[n:min(len(buf.b), n+readChunk)])
		n += k
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return classify(err)
		}
		if k == readChunk {
			m.hear()
		}
	}
	r.hint = min(n+1, bigBuffer)
	if int64(n) > m.opts.MaxMessage {
		m.countOther(n)
		m.tooLarge(buf.b[:n], nil)
		return nil
	}
	return r.handle(kind, buf.b[:n])
}

// grow returns a larger buffer with the same beginning, large enough for a
// message of the largest size and one byte more, which tells that it is over.
func (r *reader) grow(buf *buffer) *buffer {
	bigger := getBuffer(min(nextSize(len(buf.b)), int(r.m.opts.MaxMessage+1)))
	copy(bigger.b, buf.b)
	putBuffer(buf)
	return bigger
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
		r.m.hear()
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
	m.stats.Oversized.Add(1)
	e := scanCut(head)
	if !e.HasID && e.Method == nil {
		e.ID, e.HasID = idFromTail(tail)
	}
	if e.HasID && e.Method == nil && e.ID >= 0 && e.ID < untrackedIDBase {
		m.finish(e.ID, Reply{Err: ErrTooLarge})
	}
}

// handle tells a message's kind and hands it on.
func (r *reader) handle(kind websocket.MessageType, msg []byte) *LinkError {
	m := r.m
	// Most of a busy page's messages are events nobody wants: they end here,
	// with only their names looked at.
	if method := peekMethod(msg); method != nil && kind == websocket.MessageText && msg[len(msg)-1] == '}' {
		if _, wanted := m.wants.find(method); !wanted && string(method) != attachedEvent && string(method) != detachedEvent {
			r.begun, r.garbage = true, 0
			m.countEvent(len(msg))
			m.stats.EventsIgnored.Add(1)
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
