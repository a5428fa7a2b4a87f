package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"holdfast/internal/shed"
	"holdfast/messages"
)

// events streams a task's state changes as server-sent events until the
// caller goes, the task ends or the node closes.
//
// Nothing is queued here: the next batch is taken from the node's own bounded
// stream only when the last one is written, so a slow reader meets a reset,
// and one that takes nothing within the write deadline is dropped.
func (h *Handler) events(w http.ResponseWriter, c *call) error {
	after, resume, err := lastEventID(c.Header.Values("Last-Event-ID"))
	if err != nil {
		return err
	}
	ctx, release, err := c.caller.OpenStream(c.Context())
	if err != nil {
		return err
	}
	defer release()

	stream, err := h.cfg.Node.Watch(ctx, c.id, after, resume)
	if err != nil {
		return err
	}
	defer stream.Close()

	out := &sse{w: w, c: c, timeout: h.cfg.WriteTimeout}
	if err := out.begin(); err != nil || c.Method == http.MethodHead {
		return nil //nolint:nilerr // the reader has gone
	}
	for {
		batch, err := next(ctx, stream, h.cfg.Heartbeat)
		if h.hasMoved(c) {
			panic(http.ErrAbortHandler) // the task has not ended: the reader is to come again
		}
		switch {
		case err == nil:
			err = out.events(batch)
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			// Nothing happened. The comment finds out whether the reader is
			// still there; that it is keeps the task alive (X7).
			if err = out.comment("still here"); err == nil {
				_ = h.cfg.Node.Renew(c.id)
			}
		}
		if err != nil {
			return h.streamEnded(c, err)
		}
	}
}

// streamEnded tells the normal ends of a stream from failures. The answer has begun, so the
// reader cannot be told.
func (h *Handler) streamEnded(c *call, err error) error {
	var gone *readerGone
	if errors.As(err, &gone) && errors.Is(gone.err, os.ErrDeadlineExceeded) {
		h.cfg.Observer.Cut(shed.SlowReaders)
	}
	if errors.Is(err, io.EOF) || errors.As(err, &gone) || c.Context().Err() != nil || h.cfg.Gate.IsClosing() {
		return nil
	}
	h.logFailure(c, "event stream failed", err)
	return nil
}

func next(ctx context.Context, s messages.EventStream, wait time.Duration) ([]messages.Event, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return s.Next(ctx)
}

// lastEventID reads the version up to which the reader has seen everything.
func lastEventID(given []string) (version uint64, resume bool, err error) {
	if len(given) == 0 || given[0] == "" {
		return 0, false, nil
	}
	version, err = strconv.ParseUint(given[0], 10, 64)
	if err != nil || len(given) > 1 {
		return 0, false, messages.Errorf(messages.CodeInvalidArgument, "Last-Event-ID must be the version of an event")
	}
	return version, true, nil
}

// sse writes server-sent events.
type sse struct {
	w       http.ResponseWriter
	c       *call
	timeout time.Duration
	buf     bytes.Buffer
}

// readerGone is a write that failed or did not get through in time.
type readerGone struct{ err error }

func (e *readerGone) Error() string { return "reader gone: " + e.err.Error() }

func (s *sse) begin() error {
	head := s.w.Header()
	head.Set("Content-Type", "text/event-stream")
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("X-Accel-Buffering", "no") // nginx would hold events back
	s.w.WriteHeader(http.StatusOK)
	// Something at once, so that the reader knows it is connected.
	return s.comment("connected")
}

func (s *sse) comment(text string) error {
	fmt.Fprintf(&s.buf, ": %s\n\n", text)
	return s.flush()
}

// events writes a batch. Only the last event of each version carries the id: a reader that
// was cut off in between resumes before the version, and gets its events again instead of
// missing some.
func (s *sse) events(batch []messages.Event) error {
	for i, e := range batch {
		data, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("encode event: %w", err)
		}
		if i == len(batch)-1 || batch[i+1].Version != e.Version {
			fmt.Fprintf(&s.buf, "id: %d\n", e.Version)
		}
		fmt.Fprintf(&s.buf, "event: %s\ndata: %s\n\n", e.Type, data)
	}
	return s.flush()
}

// event adds one event without an id to what the next flush sends.
func (s *sse) event(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	fmt.Fprintf(&s.buf, "event: %s\ndata: %s\n\n", name, data)
	return nil
}

func (s *sse) flush() error {
	_ = s.c.ctl.SetWriteDeadline(time.Now().Add(s.timeout))
	_, err := s.w.Write(s.buf.Bytes())
	if s.buf.Cap() > 1<<20 {
		s.buf = bytes.Buffer{} // a large snapshot is not kept for a quiet stream
	}
	s.buf.Reset()
	if err == nil {
		err = s.c.ctl.Flush()
	}
	if err != nil {
		return &readerGone{err}
	}
	return nil
}
