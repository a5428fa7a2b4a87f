package messages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
)

// Error is the one error that leaves Holdfast. It never holds a credential.
type Error struct {
	// Code says what failed, for programs.
	Code Code `json:"code"`
	// Message says what failed and why, for people. Its text may change.
	Message string `json:"message"`
	// Details are facts about the failure. Which keys there are depends on the code.
	//
	// They are for people: in Go, branch on Code and Sent. On the wire they hold Sent and
	// Hint too, as sent and hint.
	Details map[string]any `json:"details,omitempty"`
	// Sent is whether the browser can have had the command.
	Sent Sent `json:"-"`
	// Hint is what helps, where more than the code says it; else "".
	Hint string `json:"-"`
	// IsFinal says that a call which was not sent is not sent later either: waiting for the
	// link does not help.
	IsFinal bool `json:"-"`
}

// Sent is whether the browser can have had the command of a call that failed.
type Sent uint8

// Whether the browser can have had a command. On the wire SentNo and SentYes are the
// detail sent, false and true.
const (
	SentUnknown Sent = iota // the question does not arise, or the answer is not known
	SentNo                  // it never had it: the call can be made again
	SentYes                 // it may have run it
)

// SentIf is [SentYes] or [SentNo].
func SentIf(isSent bool) Sent {
	if isSent {
		return SentYes
	}
	return SentNo
}

// String is unknown, no or yes.
func (s Sent) String() string {
	switch s {
	case SentNo:
		return "no"
	case SentYes:
		return "yes"
	}
	return "unknown"
}

// SentOf is whether the browser can have had the command of a call that ended with err.
func SentOf(err error) Sent {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Sent
	}
	return SentUnknown
}

// The details that Sent and Hint are on the wire.
const (
	sentKey = "sent"
	hintKey = "hint"
)

// wireError is an Error as JSON.
type wireError struct {
	Code    Code           `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

// MarshalJSON writes Sent and Hint as details, which is where the contract has them.
func (e Error) MarshalJSON() ([]byte, error) {
	w := wireError{e.Code, e.Message, e.Details}
	if e.Sent != SentUnknown || e.Hint != "" {
		w.Details = make(map[string]any, len(e.Details)+2)
		maps.Copy(w.Details, e.Details)
		if e.Sent != SentUnknown {
			w.Details[sentKey] = e.Sent == SentYes
		}
		if e.Hint != "" {
			w.Details[hintKey] = e.Hint
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the outer encoder decides that
	err := enc.Encode(w)
	return b.Bytes(), err
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Error) UnmarshalJSON(b []byte) error {
	var w wireError
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*e = Error{Code: w.Code, Message: w.Message, Details: w.Details}
	if isSent, ok := w.Details[sentKey].(bool); ok {
		e.Sent = SentIf(isSent)
		delete(w.Details, sentKey)
	}
	if hint, ok := w.Details[hintKey].(string); ok {
		e.Hint = hint
		delete(w.Details, hintKey)
	}
	if len(e.Details) == 0 {
		e.Details = nil
	}
	return nil
}

// Error implements error.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Is matches another *Error by its code alone, so that
// errors.Is(err, &messages.Error{Code: messages.CodeNoDialog}) works.
func (e *Error) Is(target error) bool {
	var t *Error
	return errors.As(target, &t) && t.Code == e.Code
}

// With returns a copy of e that carries one more detail.
func (e *Error) With(key string, value any) *Error {
	details := make(map[string]any, len(e.Details)+1)
	for k, v := range e.Details {
		details[k] = v
	}
	details[key] = value
	more := *e
	more.Details = details
	return &more
}

// WithSent returns a copy of e that says whether the browser can have had the command.
func (e *Error) WithSent(s Sent) *Error {
	said := *e
	said.Sent = s
	return &said
}

// Final returns a copy of e whose call is not to wait for the link.
func (e *Error) Final() *Error {
	said := *e
	said.IsFinal = true
	return &said
}

// WithHint returns a copy of e that says what helps.
func (e *Error) WithHint(hint string) *Error {
	said := *e
	said.Hint = hint
	return &said
}

// Errorf returns an *Error. The caller makes sure that no argument holds a
// credential.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of err, [CodeInternal] for an error that is not an
// *Error, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
