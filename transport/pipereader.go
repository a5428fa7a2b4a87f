package transport

import (
	"bytes"
	"errors"
	"io"
)

// pipeReader parts what comes through a pipe into messages: each ends with a NUL.
type pipeReader struct {
	from  io.Reader
	limit int // a longer message is cut: its head and its end are kept
	buf   []byte
	n     int    // bytes in buf
	tail  []byte // the last bytes of a message that is too long; nil while it is not
	// alive is called while a message comes that is longer than what is read at once.
	alive func()
}

// readAhead is what is read at once, as long as messages are no longer.
const readAhead = 64 << 10

func newPipeReader(from io.Reader, limit int) *pipeReader {
	return &pipeReader{from: from, limit: limit, buf: make([]byte, readAhead), alive: func() {}}
}

// run hands out messages until the pipe ends. Of a message that is too long it hands
// out one byte more than the limit, and the end.
func (r *pipeReader) run(route func(msg, tail []byte)) *LinkError {
	for {
		if r.n == len(r.buf) {
			r.makeRoom()
		}
		k, err := r.from.Read(r.buf[r.n:])
		fresh := r.n
		r.n += k
		if r.n > readAhead && k > 0 {
			r.alive()
		}
		r.split(fresh, route)
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return pipeBroken(err)
		}
	}
}

// split hands out the messages whose end has come; from fresh on nothing has been
// looked at.
func (r *pipeReader) split(fresh int, route func(msg, tail []byte)) {
	begin := 0
	for {
		i := bytes.IndexByte(r.buf[fresh:r.n], 0)
		if i < 0 {
			break
		}
		end := fresh + i
		switch {
		case r.tail != nil: // the head stands at the beginning, what follows is its end
			tail := lastBytes(r.tail, r.buf[r.limit+1:end])
			route(r.buf[:r.limit+1], tail)
			r.tail = nil
		case end > begin:
			if end-begin > r.limit {
				route(r.buf[begin:begin+r.limit+1], bytes.Clone(r.buf[max(begin, end-tailSize):end]))
			} else {
				route(r.buf[begin:end], nil)
			}
		}
		begin, fresh = end+1, end+1
	}
	if begin == 0 {
		return
	}
	rest := r.buf[begin:r.n]
	if len(r.buf) > readAhead && len(rest) <= readAhead/2 {
		r.buf = make([]byte, readAhead) // a long message has come: its room is not kept
	}
	r.n = copy(r.buf, rest)
}

// makeRoom is called while a message fills the buffer.
func (r *pipeReader) makeRoom() {
	most := r.limit + 1 + readAhead
	if len(r.buf) < most {
		bigger := make([]byte, min(nextSize(len(r.buf)), most))
		r.n = copy(bigger, r.buf[:r.n])
		r.buf = bigger
		return
	}
	// The head is kept, of the rest only the end.
	if r.tail == nil {
		r.tail = lastBytes(nil, r.buf[:r.n])
	} else {
		r.tail = lastBytes(r.tail, r.buf[r.limit+1:r.n])
	}
	r.n = r.limit + 1
}

// lastBytes are the last [tailSize] bytes of a and b together, in memory of their own.
func lastBytes(a, b []byte) []byte {
	if len(b) >= tailSize {
		return bytes.Clone(b[len(b)-tailSize:])
	}
	a = a[max(0, len(a)+len(b)-tailSize):]
	return append(append(make([]byte, 0, tailSize), a...), b...)
}
