package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/coder/websocket"

	"holdfast/internal/redact"
)

// The outcomes of a call that are not Chrome's own.
var (
	// ErrTimeout means no reply in time. A late one is counted and dropped.
	ErrTimeout = errors.New("no reply in time")
	// ErrTooLarge means that the command or its reply is larger than a CDP message may be.
	// The link stays up.
	ErrTooLarge = errors.New("message too large")
	// ErrOverloaded means that too much is waiting to be written or to be answered. The
	// call was not sent.
	ErrOverloaded = errors.New("link overloaded")
	// ErrInvalidCall means that the method is empty or the params are not one JSON object.
	// The call was not sent.
	ErrInvalidCall = errors.New("invalid call")
	// ErrLinkClosed is in every [*LinkError].
	ErrLinkClosed = errors.New("link closed")
)

// RPCError is Chrome's own answer to a call that it would not do.
type RPCError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error implements error.
func (e *RPCError) Error() string { return fmt.Sprintf("cdp: %s (%d)", e.Message, e.Code) }

// newRPCError decodes a reply's error. A peer that sends something else gets
// an error all the same: the call did fail.
func newRPCError(raw []byte) *RPCError {
	e := new(RPCError)
	if err := json.Unmarshal(raw, e); err != nil {
		return &RPCError{Message: "the error in the reply is malformed"}
	}
	return e
}

// Cause says why a link ended.
type Cause string

// The causes.
const (
	CauseClosed   Cause = "closed"    // the peer said goodbye with a close frame
	CauseReset    Cause = "reset"     // the connection broke without one
	CauseHalfOpen Cause = "half_open" // the peer did not answer a ping
	CauseProtocol Cause = "protocol"  // the peer does not speak CDP over WebSocket
	CauseOverload Cause = "overload"  // the peer does not read what we write
	CauseFlood    Cause = "flood"     // the peer said more than we could hear
	CausePanic    Cause = "panic"     // who took what the peer said panicked, see [PanicError]
	CauseLocal    Cause = "local"     // Close was called
)

// LinkError says why a link ended. It matches [ErrLinkClosed].
type LinkError struct {
	Cause Cause
	Err   error // may be nil; holds no credential
}

// Error implements error.
func (e *LinkError) Error() string {
	s := "link closed: " + string(e.Cause)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Why is the cause, with the code and the reason of the peer's close frame where
// there was one. A service says there that a session has expired, or a key is wrong.
func (e *LinkError) Why() string {
	if e.Cause == CauseClosed && e.Err != nil {
		return string(e.Cause) + ": " + e.Err.Error()
	}
	return string(e.Cause)
}

// Unwrap gives [ErrLinkClosed] and the error underneath.
func (e *LinkError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrLinkClosed}
	}
	return []error{ErrLinkClosed, e.Err}
}

// PanicError is the end of a link on which the receiver of an event or a reply panicked on
// the link's own goroutine. The next link learns everything anew; tasks on other links are
// not affected. Of the panic's value only its type is kept, or its text if it is a runtime
// error: other text may come from a page.
type PanicError struct {
	What  string
	Stack []byte
}

// Error says what panicked.
func (e *PanicError) Error() string { return e.What }

func panicked(v any) *LinkError {
	what := fmt.Sprintf("a sink panicked with a value of type %T", v)
	if err, ok := v.(runtime.Error); ok {
		what = err.Error()
	}
	return &LinkError{Cause: CausePanic, Err: &PanicError{what, debug.Stack()}}
}

// classify turns an error of the WebSocket into the reason of the link's end.
// Of a close frame only the code and the cleaned reason are kept: the reason
// is the peer's text.
func classify(err error) *LinkError {
	if end, ok := errors.AsType[*LinkError](err); ok {
		return end
	}
	var closeErr websocket.CloseError
	var errno syscall.Errno
	var netErr net.Error
	switch {
	case errors.As(err, &errno):
		if errno == errnoTimedOut { // the kernel's own keepalive was faster
			return &LinkError{Cause: CauseHalfOpen, Err: errno}
		}
		return &LinkError{Cause: CauseReset, Err: errno}
	case errors.As(err, &closeErr):
		text := fmt.Sprintf("status %d", int(closeErr.Code))
		if closeErr.Reason != "" {
			text += " " + strings.ToValidUTF8(redact.Text(closeErr.Reason), "?")
		}
		return &LinkError{Cause: CauseClosed, Err: errors.New(text)}
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return &LinkError{Cause: CauseOverload, Err: errors.New("a write did not end in time")}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, net.ErrClosed):
		return &LinkError{Cause: CauseReset, Err: errors.New("the connection ended without a close frame")}
	case errors.As(err, &netErr):
		return &LinkError{Cause: CauseReset, Err: errors.New("network error")}
	}
	return &LinkError{Cause: CauseProtocol, Err: errors.New("the peer broke the WebSocket protocol")}
}
