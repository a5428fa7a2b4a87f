package messages

import (
	"errors"
	"fmt"
	"strings"
)

// Error is the one error that leaves Holdfast. It never holds a credential.
type Error struct {
	// Code says what failed, for programs.
	Code Code `json:"code"`
	// Message says what failed and why, for people. Its text may change.
	Message string `json:"message"`
	// Details are facts about the failure. Which keys there are depends on the code.
	Details map[string]any `json:"details,omitempty"`
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
	return &Error{Code: e.Code, Message: e.Message, Details: details}
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

// IsInactivePage reports Chrome's "-32000 Not attached to an active page": the document
// of the page waits to be replaced, and no command reaches it (C58).
func IsInactivePage(err error) bool {
	return CodeOf(err) == CodeCDPError && strings.Contains(err.Error(), "Not attached to an active page")
}
