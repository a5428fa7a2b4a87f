package messages

import (
	"strings"
	"time"
)

// The bounds of a script.
const (
	MaxScript         = 1 << 20 // bytes of code
	DefaultRunTimeout = 30 * time.Second
	MinRunTimeout     = time.Second
	MaxRunTimeout     = 600 * time.Second
)

// RunRequest is a script to run beside a page.
type RunRequest struct {
	// Code is the body of an async function, of 1 MiB at most.
	Code string `json:"code"`
	// Tab is the tab_id or the name of the page; main is the default.
	Tab string `json:"tab,omitempty"`
	// TimeoutS is how long the script may take, in seconds; by default [DefaultRunTimeout].
	TimeoutS float64 `json:"timeout_s,omitempty" jsonschema:"minimum=1,maximum=600"`
}

// Timeout is how long the script may take.
func (r RunRequest) Timeout() time.Duration {
	if r.TimeoutS == 0 {
		return DefaultRunTimeout
	}
	return time.Duration(r.TimeoutS * float64(time.Second))
}

// Validate refuses a script that cannot be run. The error is an [*Error] with the code
// invalid_argument.
func (r RunRequest) Validate() error {
	switch {
	case strings.TrimSpace(r.Code) == "":
		return Errorf(CodeInvalidArgument, "code is missing")
	case len(r.Code) > MaxScript:
		return Errorf(CodeInvalidArgument, "code is longer than %d bytes", MaxScript)
	case r.TimeoutS != 0 && !(r.TimeoutS >= MinRunTimeout.Seconds() && r.TimeoutS <= MaxRunTimeout.Seconds()):
		return Errorf(CodeInvalidArgument, "timeout_s must be from %g to %g", MinRunTimeout.Seconds(), MaxRunTimeout.Seconds())
	}
	return nil
}

// RunOutput is what a script has shown and returned.
type RunOutput struct {
	// Output is what the script has displayed, in its order.
	Output []RunItem `json:"output"`
	// Value is what the script has returned, as JSON has it.
	Value any `json:"value,omitempty"`
	// Console is what the script has written to its console. It is for people who look for
	// mistakes, and no part of the output.
	Console []string `json:"console"`
	// IsTruncated says that the script has shown more than is kept.
	IsTruncated bool `json:"truncated,omitempty"`
}

// RunItemType says what a script has displayed.
type RunItemType string

// The types of what a script displays.
const (
	RunText  RunItemType = "text"
	RunImage RunItemType = "image"
)

// RunItem is one thing that a script has displayed.
type RunItem struct {
	// Type says whether it is text or an image.
	Type RunItemType `json:"type"`
	// Text is the text.
	Text string `json:"text,omitempty"`
	// MIMEType is the type of the image.
	MIMEType string `json:"mime_type,omitempty"`
	// Base64 is the content of the image.
	Base64 string `json:"base64,omitempty"`
}
