package messages

import (
	"errors"
	"fmt"
	"strings"
)

// Code is a stable word for what went wrong; callers branch on it.
type Code string

// The contract's codes.
const (
	CodeInvalidArgument       Code = "invalid_argument"
	CodeUnauthorized          Code = "unauthorized"
	CodeForbidden             Code = "forbidden"
	CodeNotFound              Code = "not_found" // no such route
	CodeTaskNotFound          Code = "task_not_found"
	CodeFrameNotFound         Code = "frame_not_found"
	CodeTargetNotFound        Code = "target_not_found"
	CodeDialogNotFound        Code = "dialog_not_found"
	CodeNoDialog              Code = "no_dialog"
	CodeDialogAmbiguous       Code = "dialog_ambiguous"
	CodeDialogAlreadyAnswered Code = "dialog_already_answered"
	CodeDialogLost            Code = "dialog_lost"
	CodeFrameNotOOPIF         Code = "frame_not_oopif"
	CodeTargetForeign         Code = "target_foreign"
	CodeBlockedByDialog       Code = "blocked_by_dialog"
	CodePageWedged            Code = "page_wedged"
	CodePageCrashed           Code = "page_crashed"
	CodeCDPError              Code = "cdp_error"
	CodeUpstreamUnavailable   Code = "upstream_unavailable"
	CodeDeadline              Code = "deadline"
	CodeMessageTooLarge       Code = "message_too_large"
	CodeLimitReached          Code = "limit_reached"
	CodeInternal              Code = "internal"
)

// StatusGone is what a request counts as whose caller hung up before its answer. No caller
// ever sees it. The number is the one that proxies log then.
const StatusGone = 499

// Codes lists every code of the contract, in its order.
func Codes() []Code {
	return []Code{
		CodeInvalidArgument, CodeUnauthorized, CodeForbidden, CodeNotFound, CodeTaskNotFound, CodeFrameNotFound,
		CodeTargetNotFound, CodeDialogNotFound, CodeNoDialog, CodeDialogAmbiguous,
		CodeDialogAlreadyAnswered, CodeDialogLost, CodeFrameNotOOPIF, CodeTargetForeign,
		CodeBlockedByDialog, CodePageWedged, CodePageCrashed, CodeCDPError,
		CodeUpstreamUnavailable, CodeDeadline, CodeMessageTooLarge, CodeLimitReached, CodeInternal,
	}
}

// Error is the one error that leaves Holdfast. Message is for people and never
// holds a credential; Details is for programs and is JSON-encodable.
type Error struct {
	Code    Code           `json:"code"`
	Message string         `json:"message"`
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
