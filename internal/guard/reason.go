package guard

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"holdfast/internal/redact"
)

// ReasonKind says in which way an actor ended.
type ReasonKind uint8

// The ways in which an actor ends.
const (
	// Normal is a call of Exit because the actor's work was done.
	Normal ReasonKind = iota
	// Shutdown is a requested stop.
	Shutdown
	// Failure is a call of Exit because of an error.
	Failure
	// Panic is a panic of the actor's code, or runtime.Goexit.
	Panic
	// Abandoned is an actor that did not exit in time after it was asked to stop.
	Abandoned
)

// String returns the kind's name, fit for a metric's label.
func (k ReasonKind) String() string {
	switch k {
	case Normal:
		return "normal"
	case Shutdown:
		return "shutdown"
	case Failure:
		return "failure"
	case Panic:
		return "panic"
	case Abandoned:
		return "abandoned"
	}
	return fmt.Sprintf("reason(%d)", uint8(k))
}

// Reason is why an actor ended.
type Reason struct {
	Kind ReasonKind
	// Err is the cause of a Failure, Panic or Abandoned, else nil.
	Err error
	// Stack is where a Panic happened.
	Stack []byte
}

// Fail is the reason of an exit because of err.
func Fail(err error) Reason { return Reason{Kind: Failure, Err: err} }

// IsAbnormal tells whether a supervisor should count the exit as a failure.
func (r Reason) IsAbnormal() bool { return r.Kind >= Failure }

// maxReasonText bounds what String prints; a panic's value may hold a page.
const maxReasonText = 512

// String returns the kind and the error, shortened, secrets masked.
func (r Reason) String() string {
	if r.Err == nil {
		return r.Kind.String()
	}
	return r.Kind.String() + ": " + safeText(r.Err.Error())
}

// ErrAbandoned is the cause of every Abandoned reason.
var ErrAbandoned = errors.New("guard: actor did not exit in time")

// ErrDuplicateID is the cause of a Failure of an actor that was never started because its
// ID was taken. The ids of guarded actors are unique, so some code has spawned an actor
// without this package.
var ErrDuplicateID = errors.New("guard: actor id is taken")

// PanicError is the cause of a Panic reason. Of the panic's value it keeps no
// more than its type, or the text where that is the runtime's own: values come
// from code that handles page content, and the stack tells the place.
type PanicError struct{ text string }

// Error says what panicked.
func (e *PanicError) Error() string { return e.text }

// panicked makes a reason of what recover returned; nil means that the
// goroutine is being ended by runtime.Goexit, which recover cannot see. It
// must be called on the panicking goroutine, before its stack is gone.
func panicked(v any) Reason {
	text := "runtime.Goexit called"
	if err, ok := v.(runtime.Error); ok {
		text = err.Error()
	} else if v != nil {
		text = fmt.Sprintf("an actor panicked with a value of type %T", v)
	}
	return Reason{Kind: Panic, Err: &PanicError{text}, Stack: debug.Stack()}
}

// safeText masks secrets before it cuts, so that no half of one is missed.
func safeText(s string) string {
	const scan = 8 * maxReasonText // masking is linear in the text, a panic's value may be huge
	if len(s) > scan {
		s = s[:scan]
	}
	s = redact.Text(s)
	if len(s) > maxReasonText {
		s = s[:maxReasonText] + "…"
	}
	return s
}
