package messages

import (
	"encoding/json"
	"time"
)

// DialogAnswer is an agent's answer to a dialog.
type DialogAnswer struct {
	// Action is the answer.
	Action Action `json:"action"`
	// PromptText is the text for a prompt (D13), at most [MaxPromptText] bytes. Without it an
	// accepted prompt returns its default text (C3 says why that has to be ours).
	PromptText *string `json:"prompt_text,omitempty"`
	// DialogID is the dialog; it may be left out while only one is open.
	DialogID DialogID `json:"dialog_id,omitempty"`
	// By says who has decided: agent, the default, or human for a person. The node takes the
	// caller's word; the tools, raw CDP and the gateway cannot say human.
	By Answerer `json:"by,omitempty"`
	// WaitS is how long the call waits for a lost connection, in seconds, by default
	// [DefaultWait]; 0 fails at once.
	WaitS *float64 `json:"wait_s,omitempty" jsonschema:"minimum=0,maximum=300"`
}

// Action says how a dialog is answered.
type Action string

// The two actions of an answer.
const (
	ActionAccept  Action = "accept"  // OK; leaves the page where a beforeunload asks
	ActionDismiss Action = "dismiss" // Cancel; stays on the page where a beforeunload asks
)

// Answerer says who has decided on an answer.
type Answerer string

// Who can decide on an answer.
const (
	AnswererAgent Answerer = "agent" // a program
	AnswererHuman Answerer = "human" // a person
)

// MaxPromptText bounds the text given to a prompt, in bytes.
const MaxPromptText = 1 << 20

// Validate checks the answer's form; whether there is such a dialog is the
// dialog actor's to say.
func (a DialogAnswer) Validate() error {
	if a.Action != ActionAccept && a.Action != ActionDismiss {
		return Errorf(CodeInvalidArgument, "action must be accept or dismiss")
	}
	if a.By != "" && a.By != AnswererAgent && a.By != AnswererHuman {
		return Errorf(CodeInvalidArgument, "by must be agent or human")
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
	WaitCommit           WaitUntil = "commit"           // the new document has taken the place of the old
	WaitDOMContentLoaded WaitUntil = "domcontentloaded" // its DOMContentLoaded event
	WaitLoad             WaitUntil = "load"             // its load event; the default
	WaitNetworkIdle0     WaitUntil = "networkidle0"     // no request for 500 ms
	WaitNetworkIdle2     WaitUntil = "networkidle2"     // at most two for 500 ms
)

// NavigateRequest asks a page of a task to go to a URL.
type NavigateRequest struct {
	// URL is the address, with its scheme, at most [MaxURLLength] bytes.
	URL string `json:"url"`
	// TargetID is the page; by default the current one.
	TargetID TargetID `json:"target_id,omitempty"`
	// WaitUntil says when the navigation counts as done.
	WaitUntil WaitUntil `json:"wait_until,omitempty"`
	// TimeoutS bounds the whole call, in seconds; by default [DefaultNavigateTimeout].
	TimeoutS float64 `json:"timeout_s,omitempty" jsonschema:"minimum=0.01,maximum=300"`
	// WaitS is how long the call waits for a lost connection, in seconds and within
	// timeout_s, by default [DefaultWait]; 0 fails at once.
	WaitS *float64 `json:"wait_s,omitempty" jsonschema:"minimum=0,maximum=300"`
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
	// TargetID is the page.
	TargetID TargetID `json:"target_id"`
	// FrameID is the page's main frame.
	FrameID FrameID `json:"frame_id"`
	// LoaderID is CDP's id of the document; absent for a navigation within a document.
	LoaderID string `json:"loader_id,omitempty"`
	// URL is the address that the page has in the end.
	URL string `json:"url"`
	// Download says that the URL was a download: the page stayed where it was.
	Download bool `json:"download,omitempty"`
}

// CDPRequest is one raw CDP command, run on the task's own connection.
type CDPRequest struct {
	// Method is the CDP method, such as Runtime.evaluate.
	Method string `json:"method"`
	// Params are the parameters of the method.
	Params json.RawMessage `json:"params,omitempty"`
	// FrameID is the out-of-process frame that the command is for.
	FrameID FrameID `json:"frame_id,omitempty"`
	// TargetID is the page that the command is for. Without target_id and frame_id it goes to
	// the current page, or to the browser where only the browser knows the method.
	TargetID TargetID `json:"target_id,omitempty"`
	// TimeoutS bounds the whole call, in seconds; by default [DefaultCDPTimeout].
	TimeoutS float64 `json:"timeout_s,omitempty" jsonschema:"minimum=0.01,maximum=300"`
	// WaitS is how long the call waits for a lost connection, in seconds and within
	// timeout_s, by default [DefaultWait]; 0 fails at once.
	WaitS *float64 `json:"wait_s,omitempty" jsonschema:"minimum=0,maximum=300"`
	// OnDialog says what a dialog that is or comes in the way means to the call.
	OnDialog OnDialog `json:"on_dialog,omitempty"`
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

// CDPResult is the result of a raw CDP command.
type CDPResult struct {
	// Result is the browser's own result, untouched.
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
