package transport

import (
	"errors"
	"os"
	"time"
)

// pipeWriter writes whole messages, one at a time. A client that ends while its
// message is being written leaves the rest of it to the next one, so that no message
// is ever torn.
type pipeWriter struct {
	to   PipeEnd
	turn chan struct{} // holds one: its holder writes
	rest []byte        // of a message whose client has ended; the writer's alone
	look func() bool   // whether [maxDirect] bytes and more are taken at once
}

func newPipeWriter(to PipeEnd) *pipeWriter {
	w := &pipeWriter{to: to, turn: make(chan struct{}, 1), look: pipeRoom(to)}
	w.turn <- struct{}{}
	return w
}

// reserve takes the turn if a short message would not have to wait; write with
// reserved, or release, has to follow.
func (w *pipeWriter) reserve() bool {
	select {
	case <-w.turn:
	default:
		return false
	}
	if len(w.rest) == 0 && w.look() {
		return true
	}
	w.release()
	return false
}

func (w *pipeWriter) release() { w.turn <- struct{}{} }

var errClientGone = errors.New("the link has ended")

// write writes a message, which ends with its NUL. Gone, where it is not nil, ends the
// wait; interrupt has to be called behind it.
func (w *pipeWriter) write(frame []byte, gone <-chan struct{}, last func() error) error {
	select {
	case <-w.turn:
	case <-gone:
		return errClientGone
	}
	if err := permitted(last); err != nil {
		w.release()
		return err
	}
	return w.writeReserved(frame, gone)
}

// writeReserved is write for the holder of the turn.
func (w *pipeWriter) writeReserved(frame []byte, gone <-chan struct{}) error {
	defer w.release()
	if len(w.rest) > 0 {
		left, err := w.push(w.rest, gone)
		if w.rest = left; err != nil {
			return err
		}
	}
	left, err := w.push(frame, gone)
	if errors.Is(err, errClientGone) && len(left) < len(frame) {
		w.rest = append([]byte(nil), left...)
	}
	return err
}

// push writes b and returns what is left of it.
func (w *pipeWriter) push(b []byte, gone <-chan struct{}) ([]byte, error) {
	for len(b) > 0 {
		n, err := w.to.Write(b)
		b = b[n:]
		if err == nil || len(b) == 0 {
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return b, err
		}
		if err := w.to.SetWriteDeadline(time.Time{}); err != nil {
			return b, err
		}
		select {
		case <-gone:
			return b, errClientGone
		default: // another client was meant
		}
	}
	return nil, nil
}

// interrupt has the writer look whether its link is gone.
func (w *pipeWriter) interrupt() { _ = w.to.SetWriteDeadline(time.Unix(1, 0)) }
