package api

import (
	"errors"
	"io"
	"net/http"
	"time"

	"holdfast/internal/shed"
	"holdfast/messages"
)

// The limits of a request's body, in bytes. A raw command may be as long as a
// CDP message, plus room for the fields around its params.
const (
	maxBody    = 1 << 20
	maxCDPBody = messages.MaxCDPMessage + 64<<10
)

// What the large bodies of all callers take together, in bytes, and the shares of one token.
const (
	maxBodyBytes   = 256 << 20
	tenantBodies   = 128 << 20
	taskBodies     = 64 << 20
	bodyUncounted  = 1 << 20 // bodies up to this size are bounded by the connections
	adminBodyBytes = 64 << 20
)

// read decodes the body into v. An empty body leaves v alone where that is
// allowed.
func (c *call) read(w http.ResponseWriter, v any, limit int64, emptyOK bool) error {
	if err := c.takeBody(limit); err != nil {
		return err
	}
	if counting, ok := w.(*response); ok {
		w = counting.ResponseWriter // the server's own, which then closes a connection with too much on it
	}
	in := &bodyReader{r: http.MaxBytesReader(w, c.Body, limit), limit: limit, call: c}
	// Whatever Content-Type says: curl -d calls everything a form. The token is
	// in a header that no page can set on a form it posts.
	err := messages.DecodeStrict(in, v)
	switch {
	case in.isEmpty && emptyOK:
		return nil
	case in.isEmpty:
		return messages.Errorf(messages.CodeInvalidArgument, "the body is missing")
	case err != nil:
		return err
	}
	// The body is here; the deadline would cut the wait for the answer.
	_ = c.ctl.SetReadDeadline(time.Time{})
	return nil
}

// bodyStep is how much of a body that does not say its length is taken at a time.
const bodyStep = 4 << 20

// takeBody takes a large body's place in the bound that all bodies have together,
// before any of it is read. One that does not say its length takes it as it comes.
func (c *call) takeBody(limit int64) error {
	if c.ContentLength <= bodyUncounted {
		return nil
	}
	return c.takeBytes(min(c.ContentLength, limit)) // what is beyond is not read
}

func (c *call) takeBytes(n int64) error {
	release, ok := c.handler.bodies.Take(c.caller.Scope(), n)
	if !ok {
		c.handler.cfg.Observer.Cut(shed.HTTPBodies)
		return messages.Errorf(messages.CodeLimitReached, "too many large bodies are being received; send this one again in a moment")
	}
	before := c.release
	c.release = func() {
		release()
		if before != nil {
			before()
		}
	}
	return nil
}

// bodyReader turns the ways a body fails into the contract's codes.
type bodyReader struct {
	r     io.Reader
	limit int64
	call  *call

	read    int64
	taken   int64 // of a body that does not say its length
	isEmpty bool  // it has ended, without a byte
}

func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.read += int64(n)
	if b.call.ContentLength < 0 && b.read > b.taken+bodyUncounted {
		if err := b.call.takeBytes(bodyStep); err != nil {
			return 0, err
		}
		b.taken += bodyStep
	}
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil, errors.Is(err, io.EOF):
		b.isEmpty = err != nil && b.read == 0
		return n, err
	case errors.As(err, &tooLarge):
		b.call.isTooLarge = true
		return n, messages.Errorf(messages.CodeMessageTooLarge, "the body is longer than %d bytes", b.limit)
	default:
		return n, messages.Errorf(messages.CodeInvalidArgument, "the body could not be read to its end")
	}
}
