package transport

import "io"

// sharedQueue holds messages until their client reads them. They share chunks, so that
// many small ones take no more memory than they are long.
type sharedQueue struct {
	messages []sharedMessage
	head     int
	bytes    int // of messages, with what each costs
	last     *sharedChunk
}

// sharedChunk is memory that several messages share.
type sharedChunk struct {
	buf    *buffer
	n      int // bytes in use
	unread int // messages in it
}

// sharedMessage is a message that waits to be read, or is being read.
type sharedMessage struct {
	chunk *sharedChunk
	text  []byte // the rest of it
	cost  int
}

// Read implements io.Reader.
func (m *sharedMessage) Read(b []byte) (int, error) {
	if len(m.text) == 0 {
		return 0, io.EOF
	}
	k := copy(b, m.text)
	m.text = m.text[k:]
	return k, nil
}

func (q *sharedQueue) isEmpty() bool { return q.head == len(q.messages) }

// push adds a message that consists of parts; false where the queue has no room.
func (q *sharedQueue) push(limit int, parts ...[]byte) bool {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if q.bytes+n+eventOverheads > limit {
		return false
	}
	if q.last == nil || len(q.last.buf.b)-q.last.n < n {
		size := n
		if !q.isEmpty() { // more are coming
			size = max(n, midBuffer)
		}
		q.last = &sharedChunk{buf: getBuffer(size)}
	}
	c := q.last
	from := c.n
	for _, p := range parts {
		c.n += copy(c.buf.b[c.n:], p)
	}
	c.unread++
	q.bytes += n + eventOverheads
	q.messages = append(q.messages, sharedMessage{chunk: c, text: c.buf.b[from:c.n:c.n], cost: n + eventOverheads})
	return true
}

// pop takes the oldest message; it has to be released.
func (q *sharedQueue) pop() (m sharedMessage, ok bool) {
	if q.isEmpty() {
		return m, false
	}
	m = q.messages[q.head]
	q.messages[q.head] = sharedMessage{}
	q.bytes -= m.cost
	if q.head++; q.isEmpty() {
		q.messages, q.head = q.messages[:0], 0
		if cap(q.messages) > 64 {
			q.messages = nil
		}
	} else if q.head >= 1024 && q.head > len(q.messages)/2 {
		left := copy(q.messages, q.messages[q.head:])
		clear(q.messages[left:])
		q.messages, q.head = q.messages[:left], 0
	}
	return m, true
}

// release gives back the memory of a message that has been read.
func (q *sharedQueue) release(m sharedMessage) {
	c := m.chunk
	if c == nil {
		return
	}
	if c.unread--; c.unread > 0 {
		return
	}
	if c == q.last {
		q.last = nil
	}
	putBuffer(c.buf)
}

// drop forgets every message.
func (q *sharedQueue) drop() {
	for m, ok := q.pop(); ok; m, ok = q.pop() {
		q.release(m)
	}
	q.messages = nil
}
