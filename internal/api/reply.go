package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"holdfast/messages"
)

// statusOf returns the status of the error that is shown as own.
func statusOf(err error, own *messages.Error) int {
	var special *refusal
	if errors.As(err, &special) {
		return special.status
	}
	return own.Code.Status()
}

// response counts what was answered, for the log, and tells whether an answer
// has begun.
type response struct {
	http.ResponseWriter
	status int
	bytes  int64
	isCut  bool // the answer did not come to its end
}

func (w *response) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *response) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController through.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// reply answers with v as JSON. It is encoded before the first byte goes out,
// so that what cannot be encoded is still a proper error.
func (h *Handler) reply(w http.ResponseWriter, c *call, status int, v any) {
	body, err := encode(v)
	if err != nil {
		// Details that cannot be encoded, or a float that is no number.
		h.logFailure(c, "answer cannot be encoded", err)
		status = http.StatusInternalServerError
		body, _ = encode(messages.ErrorReply{Error: errInternal})
	}
	h.send(w, c, status, body)
}

// encode leaves < > & as they are: no browser ever shows these bodies as HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// slowest is the rate, in bytes a second, below which a reader of a long
// answer counts as stalled.
const slowest = 1 << 20

// send writes one JSON body within the write deadline.
func (h *Handler) send(w http.ResponseWriter, c *call, status int, body ...[]byte) {
	size := 0
	for _, b := range body {
		size += len(b)
	}
	head := w.Header()
	head.Set("Content-Type", "application/json")
	head.Set("Content-Length", strconv.Itoa(size))
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	if status == http.StatusTooManyRequests && head.Get("Retry-After") == "" {
		head.Set("Retry-After", "1")
	}
	_ = c.ctl.SetWriteDeadline(time.Now().Add(h.cfg.WriteTimeout + time.Duration(size/slowest)*time.Second))
	w.WriteHeader(status)
	if c.Method == http.MethodHead {
		return
	}
	for _, b := range body {
		if _, err := w.Write(b); err != nil {
			return // the reader has gone; net/http closes the connection
		}
	}
}

// sendNothing answers 204.
func (h *Handler) sendNothing(w http.ResponseWriter, c *call) {
	_ = c.ctl.SetWriteDeadline(time.Now().Add(h.cfg.WriteTimeout))
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}
