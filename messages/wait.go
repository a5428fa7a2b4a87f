package messages

import "time"

// DefaultWait is how long a call that was not sent waits for the link to the browser.
const DefaultWait = 5 * time.Second

// OnDialog says what a dialog means to a raw CDP call that it holds up.
type OnDialog string

// The values of OnDialog.
const (
	OnDialogFail OnDialog = "fail" // the call ends with blocked_by_dialog at once; the default
	OnDialogWait OnDialog = "wait" // the call waits for its result until the dialog is answered
)

func (o OnDialog) validate() error {
	switch o {
	case "", OnDialogFail, OnDialogWait:
		return nil
	}
	return Errorf(CodeInvalidArgument, "on_dialog must be fail or wait")
}

// checkWait bounds wait_s. As floats: NaN is no time.
func checkWait(s *float64) error {
	if s != nil && !(*s >= 0 && *s <= MaxCallTimeout.Seconds()) {
		return Errorf(CodeInvalidArgument, "wait_s must be between 0 and %g", MaxCallTimeout.Seconds())
	}
	return nil
}

// waitOf is wait_s as a duration, or the default where there is none.
func waitOf(s *float64) time.Duration {
	if s == nil {
		return DefaultWait
	}
	return time.Duration(*s * float64(time.Second))
}
