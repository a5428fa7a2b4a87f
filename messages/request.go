package messages

import (
	"encoding/json"
	"time"
)

// DialogAnswer is an agent's answer to a dialog. PromptText counts for
// prompts only (requirement D13); nil accepts a prompt with its default text
// (C3 says why that has to be ours). An empty DialogID means the only one.
type DialogAnswer struct {
	Action     string   `json:"action"`
	PromptText *string  `json:"prompt_text,omitempty"`
	DialogID   DialogID `json:"dialog_id,omitempty"`
	// WaitS is how long the answer waits for a link to the browser, in seconds: nil
	// is [DefaultWait], and 0 fails at once. So it is in every request.
	WaitS *float64 `json:"wait_s,omitempty"`
}

// The two actions of an answer.
const (
	ActionAccept  = "accept"
	ActionDismiss = "dismiss"
)

// MaxPromptText bounds the text given to a prompt, in bytes.
const MaxPromptText = 1 << 20

// Validate checks the answer's form; whether there is such a dialog is the
// dialog actor's to say.
func (a DialogAnswer) Validate() error {
	if a.Action != ActionAccept && a.Action != ActionDismiss {
		return Errorf(CodeInvalidArgument, "action must be accept or dismiss")
	}
	if a.PromptText != nil && len(*a.PromptText) > MaxPromptText {
		return Errorf(CodeMessageTooLarge, "prompt_text is longer than %d bytes", MaxPromptText)
	}
	if err := CheckOpaqueID("dialog_id", string(a.DialogID)); err != nil {
		return err
	}
	return checkWait(a.WaitS)
}

// Wait is WaitS as a duration, or the default.
func (a DialogAnswer) Wait() time.Duration { return waitOf(a.WaitS) }

// WaitUntil says when a navigation counts as done.
type WaitUntil string

// The moments a navigation can wait for.
const (
	WaitCommit           WaitUntil = "commit"
	WaitDOMContentLoaded WaitUntil = "domcontentloaded"
	WaitLoad             WaitUntil = "load"
	WaitNetworkIdle0     WaitUntil = "networkidle0" // no request for 500 ms
	WaitNetworkIdle2     WaitUntil = "networkidle2" // at most two for 500 ms
)

// NavigateRequest asks a page of a task to go to a URL. Without TargetID it
// is the snapshot's page_target_id.
type NavigateRequest struct {
	URL       string    `json:"url"`
	TargetID  TargetID  `json:"target_id,omitempty"`
	WaitUntil WaitUntil `json:"wait_until,omitempty"`
	TimeoutS  float64   `json:"timeout_s,omitempty"`
	WaitS     *float64  `json:"wait_s,omitempty"` // within the timeout
}

// Bounds and defaults of calls.
const (
	MaxURLLength           = 2 << 20 // what Chrome itself accepts
	DefaultNavigateTimeout = 30 * time.Second
	DefaultCDPTimeout      = 10 * time.Second
	MaxCallTimeout         = 300 * time.Second
	MinCallTimeout         = 10 * time.Millisecond
)

// Validate checks every field and its bounds.
func (r NavigateRequest) Validate() error {
	if len(r.URL) > MaxURLLength {
		return Errorf(CodeMessageTooLarge, "url is longer than %d bytes", MaxURLLength)
	}
	if err := checkDestination(r.URL); err != nil {
		return err
	}
	switch r.WaitUntil {
	case "", WaitCommit, WaitDOMContentLoaded, WaitLoad, WaitNetworkIdle0, WaitNetworkIdle2:
	default:
		return Errorf(CodeInvalidArgument, "wait_until must be commit, domcontentloaded, load, networkidle0 or networkidle2")
	}
	if err := CheckOpaqueID("target_id", string(r.TargetID)); err != nil {
		return err
	}
	if err := checkWait(r.WaitS); err != nil {
		return err
	}
	return checkTimeout(r.TimeoutS)
}

// Timeout is TimeoutS as a duration, or the default.
func (r NavigateRequest) Timeout() time.Duration { return timeout(r.TimeoutS, DefaultNavigateTimeout) }

// Wait is WaitS as a duration, or the default.
func (r NavigateRequest) Wait() time.Duration { return waitOf(r.WaitS) }

// NavigateResult is where a navigation ended.
type NavigateResult struct {
	TargetID TargetID `json:"target_id"`
	FrameID  FrameID  `json:"frame_id"`
	LoaderID string   `json:"loader_id,omitempty"`
	URL      string   `json:"url"`
	// Download says that the URL was a download: the page stayed where it was.
	Download bool `json:"download,omitempty"`
}

// CDPRequest is raw CDP on the task's own connection. FrameID names an
// out-of-process iframe, TargetID a page; without either the method goes to
// the current page, or to the browser where only the browser knows it.
type CDPRequest struct {
	Method   string          `json:"method"`
	Params   json.RawMessage `json:"params,omitempty"`
	FrameID  FrameID         `json:"frame_id,omitempty"`
	TargetID TargetID        `json:"target_id,omitempty"`
	TimeoutS float64         `json:"timeout_s,omitempty"`
	WaitS    *float64        `json:"wait_s,omitempty"` // within the timeout
	OnDialog OnDialog        `json:"on_dialog,omitempty"`
}

// MaxCDPMessage bounds one CDP message in either direction, in bytes
// (requirement A18).
const MaxCDPMessage = 50 << 20

// Validate checks every field and its bounds.
func (r CDPRequest) Validate() error {
	if !isCDPMethod(r.Method) {
		return Errorf(CodeInvalidArgument, "method must look like Domain.method")
	}
	if len(r.Params) > MaxCDPMessage {
		return Errorf(CodeMessageTooLarge, "params are longer than %d bytes", MaxCDPMessage)
	}
	if len(r.Params) > 0 && string(r.Params) != "null" {
		if !json.Valid(r.Params) || firstByte(r.Params) != '{' {
			return Errorf(CodeInvalidArgument, "params must be a JSON object")
		}
	}
	if err := CheckOpaqueID("frame_id", string(r.FrameID)); err != nil {
		return err
	}
	if err := CheckOpaqueID("target_id", string(r.TargetID)); err != nil {
		return err
	}
	if err := checkWait(r.WaitS); err != nil {
		return err
	}
	if err := r.OnDialog.validate(); err != nil {
		return err
	}
	return checkTimeout(r.TimeoutS)
}

// Timeout is TimeoutS as a duration, or the default.
func (r CDPRequest) Timeout() time.Duration { return timeout(r.TimeoutS, DefaultCDPTimeout) }

// Wait is WaitS as a duration, or the default.
func (r CDPRequest) Wait() time.Duration { return waitOf(r.WaitS) }

// CDPResult is Chrome's own result, untouched.
type CDPResult struct {
	Result json.RawMessage `json:"result"`
}

// SnapshotOptions says which snapshot of a task is wanted. The zero value is
// the snapshot of the current page, within its caps.
type SnapshotOptions struct {
	// TargetID asks for the frame tree of this page.
	TargetID TargetID
	// Full lifts the caps of the frame tree (requirements F2, F3).
	Full bool
}

// isCDPMethod accepts Domain.method in ASCII letters and digits.
func isCDPMethod(s string) bool {
	dot := false
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9' && i > 0:
		case r == '.' && !dot && i > 0 && i < len(s)-1:
			dot = true
		default:
			return false
		}
	}
	return dot && len(s) <= 128
}

func firstByte(b []byte) byte {
	for _, c := range b {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func checkTimeout(s float64) error {
	if s != 0 && !(s >= MinCallTimeout.Seconds() && s <= MaxCallTimeout.Seconds()) {
		return Errorf(CodeInvalidArgument, "timeout_s must be between %g and %g", MinCallTimeout.Seconds(), MaxCallTimeout.Seconds())
	}
	return nil
}

func timeout(s float64, def time.Duration) time.Duration {
	if s == 0 {
		return def
	}
	return time.Duration(s * float64(time.Second))
}
