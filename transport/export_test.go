package transport

import (
	"io"
	"time"
)

// Unread is what the reader finds of an event without walking it.
func Unread(msg []byte) (e Event, session []byte, ok bool) {
	method := peekMethod(msg)
	if method == nil {
		return e, nil, false
	}
	params, session, ok := unread(msg, string(method))
	return Event{Method: string(method), Params: params}, session, ok
}

// NewSmallPipe is NewPipe with bounds that a test can reach.
func NewSmallPipe(from io.ReadCloser, to PipeEnd, limit, room int) *Shared {
	return newPipe(from, to, limit, room)
}

// SplitPipe is what a pipe's reader makes of what comes in pieces.
func SplitPipe(from io.Reader, limit int, route func(msg, tail []byte)) {
	newPipeReader(from, limit).run(route)
}

// SetPong sets how long the peer may take to answer a ping.
func (m *Mux) SetPong(d time.Duration) { m.conn.pong = d }

// The system's error numbers, for tests.
const (
	ErrnoRefused      = errnoRefused
	ErrnoReset        = errnoReset
	ErrnoNoAddress    = errnoNoAddress
	ErrnoProcessFiles = errnoProcessFiles
	ErrnoSystemFiles  = errnoSystemFiles
	ErrnoNoBuffers    = errnoNoBuffers
)
