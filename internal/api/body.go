package api

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"time"

	"holdfast/messages"
)

// The limits of a request's body, in bytes. A raw command may be as long as a
// CDP message, plus room for the fields around its params.
const (
	maxBody    = 1 << 20
	maxCDPBody = messages.MaxCDPMessage + 64<<10
)

// read decodes the body into v. An empty body leaves v alone where that is
// allowed.
func (c *call) read(w http.ResponseWriter, v any, limit int64, emptyOK bool) error {
	if counting, ok := w.(*response); ok {
		w = counting.ResponseWriter // the server's own, which then closes a connection with too much on it
	}
	in := bufio.NewReader(bodyReader{http.MaxBytesReader(w, c.Body, limit), limit, c})
	if _, err := in.Peek(1); errors.Is(err, io.EOF) {
		if !emptyOK {
			return messages.Errorf(messages.CodeInvalidArgument, "the body is missing")
		}
		return nil
	}
	// Whatever Content-Type says: curl -d calls everything a form. The token is
	// in a header that no page can set on a form it posts.
	if err := messages.DecodeStrict(in, v); err != nil {
		return err
	}
	// The body is here; the deadline would cut the wait for the answer.
	_ = c.ctl.SetReadDeadline(time.Time{})
	return nil
}

// bodyReader turns the ways a body fails into the contract's codes.
type bodyReader struct {
	r     io.Reader
	limit int64
	call  *call
}

func (b bodyReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	var tooLarge *http.MaxBytesError
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case errors.As(err, &tooLarge):
		b.call.tooLarge = true
		return n, messages.Errorf(messages.CodeMessageTooLarge, "the body is longer than %d bytes", b.limit)
	default:
		return n, messages.Errorf(messages.CodeInvalidArgument, "the body could not be read to its end")
	}
}
