package quirks

import (
	"encoding/json"
	"errors"
	"strings"

	"holdfast/messages"
)

// Refusal is what an error of Chrome's means.
type Refusal uint8

// The refusals. Unknown is any other error of Chrome's; None is no error of Chrome's.
const (
	None Refusal = iota
	Unknown
	InactivePage      // the document is being unloaded or waits for another one (C58)
	SessionGone       // the CDP session has ended (C56)
	TargetCrashed     // the renderer has crashed; the next one may take the command
	TargetClosed      // the page or frame has gone
	TargetNavigated   // it has another document or renderer by now
	NoDialog          // no native dialog is open on the session's page (C4)
	ParametersMissing // the command has parameters, and none were given
)

// Chrome's texts.
const (
	textInactivePage = "Not attached to an active page"
	textSessionGone  = "Session with given id not found"
	textCrashed      = "Target crashed"
	textClosed       = "Target closed"
	textNavigated    = "Inspected target navigated or closed"
	textNoDialog     = "No dialog is showing"
	textNoParams     = "CBOR: map start expected"
)

// Texts are the texts that mean something, for a test that keeps them in this package.
func Texts() []string {
	return []string{textInactivePage, textSessionGone, textCrashed, textClosed, textNavigated, textNoDialog, textNoParams}
}

// codeInvalidParams is JSON-RPC's.
const codeInvalidParams = -32602

// Classify says what err means. Only an error with [messages.CodeCDPError] is Chrome's.
func Classify(err error) Refusal {
	e, ok := errors.AsType[*messages.Error](err)
	if !ok || e.Code != messages.CodeCDPError {
		return None
	}
	if r := ClassifyText(e.Message); r != Unknown {
		return r
	}
	if cdp, _ := e.Details["cdp"].(map[string]any); cdp != nil && cdp["code"] == int64(codeInvalidParams) {
		if data, _ := cdp["data"].(json.RawMessage); strings.Contains(string(data), textNoParams) {
			return ParametersMissing
		}
	}
	return Unknown
}

// ClassifyText says what the message of an error of Chrome's means.
func ClassifyText(message string) Refusal {
	switch {
	case strings.Contains(message, textInactivePage):
		return InactivePage
	case strings.Contains(message, textSessionGone):
		return SessionGone
	case strings.Contains(message, textNoDialog):
		return NoDialog
	case message == textCrashed:
		return TargetCrashed
	case message == textClosed:
		return TargetClosed
	case message == textNavigated:
		return TargetNavigated
	}
	return Unknown
}

// IsPassing reports whether the refusal is of a page, a frame or a session that is going:
// it says nothing of the command itself. What a crash has swallowed is given to the next
// renderer.
func (r Refusal) IsPassing() bool {
	switch r {
	case SessionGone, TargetCrashed, TargetClosed, TargetNavigated:
		return true
	}
	return false
}

// NoDialogError is Chrome's answer where no native dialog is open (C4).
func NoDialogError() *messages.Error {
	return messages.Errorf(messages.CodeCDPError, textNoDialog)
}

// TargetCrashedError is Chrome's answer where the renderer has crashed (M13).
func TargetCrashedError() *messages.Error {
	return messages.Errorf(messages.CodeCDPError, textCrashed)
}

// SessionGoneReply is the error member of Chrome's reply on a session that has ended (C56).
const SessionGoneReply = `{"code":-32001,"message":"` + textSessionGone + `."}`
