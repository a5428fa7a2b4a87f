package transport

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"holdfast/messages"
)

// pipePong is how long the browser process may be silent. A pipe has no half that
// could be open, and a new link would come to the same process.
const pipePong = 20 * time.Second

// PipeEnd is the end of a pipe that the browser reads from.
type PipeEnd interface {
	io.WriteCloser
	SetWriteDeadline(t time.Time) error
}

// NewPipe drives a browser over its --remote-debugging-pipe, and starts to read from. Both
// ends are the connection's own from now on. The browser ends by itself when its pipe does.
func NewPipe(from io.ReadCloser, to PipeEnd) *Shared {
	return newPipe(from, to, messages.MaxCDPMessage, maxSharedQueue)
}

func newPipe(from io.ReadCloser, to PipeEnd, limit, room int) *Shared {
	var mark [8]byte
	_, _ = rand.Read(mark[:]) // never fails
	p := newShared(&pipe{from: from, pipeWriter: newPipeWriter(to)}, hex.EncodeToString(mark[:]), pipePong, limit, room)
	go p.read()
	return p
}

// pipe is the carrier of a launched browser.
type pipe struct {
	from io.ReadCloser
	*pipeWriter
}

func (*pipe) name() string { return "the browser's pipe" }

func (p *pipe) read(limit int, route func(msg, tail []byte), alive func()) *LinkError {
	r := newPipeReader(p.from, limit)
	r.alive = alive
	return r.run(route)
}

func (p *pipe) close(*LinkError) {
	_ = p.to.Close()
	_ = p.from.Close()
}

func (*pipe) broken(err error) *LinkError { return pipeBroken(err) }

func pipeBroken(err error) *LinkError {
	if end, ok := errors.AsType[*LinkError](err); ok {
		return end
	}
	return &LinkError{Cause: CauseReset, Err: errors.New("the browser has closed its pipe")}
}
