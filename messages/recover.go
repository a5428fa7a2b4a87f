package messages

import "time"

// RecoverAction is a way to get a page back that does not answer.
type RecoverAction string

// The actions, the gentlest first.
const (
	// RecoverRelease dismisses a dialog that no connection can answer (C19). The page keeps
	// its state.
	RecoverRelease RecoverAction = "release"
	// RecoverReattach replaces the page's CDP session. The page keeps its state.
	RecoverReattach RecoverAction = "reattach"
	// RecoverReload loads the document anew. What it held is lost.
	RecoverReload RecoverAction = "reload"
	// RecoverReplace opens a new page of the task at the page's last address and closes
	// the page, which nothing else brings back. What it held is lost.
	RecoverReplace RecoverAction = "replace"
	// RecoverClose closes the page. It always works.
	RecoverClose RecoverAction = "close"
)

// RecoverActions lists them, in this order.
func RecoverActions() []RecoverAction {
	return []RecoverAction{RecoverRelease, RecoverReattach, RecoverReload, RecoverReplace, RecoverClose}
}

// RecoverRequest asks for a page of a task to be recovered.
type RecoverRequest struct {
	// Action is what is to be done.
	Action RecoverAction `json:"action"`
	// TargetID is the page; by default the current one.
	TargetID TargetID `json:"target_id,omitempty"`
	// WaitS is how long the call waits for a lost connection, in seconds, by default
	// [DefaultWait]; 0 fails at once.
	WaitS *float64 `json:"wait_s,omitempty" jsonschema:"minimum=0,maximum=300"`
}

// Wait is WaitS as a duration, or the default.
func (r RecoverRequest) Wait() time.Duration { return waitOf(r.WaitS) }

// Validate checks the request's form; what the page's state allows is the
// task's to say.
func (r RecoverRequest) Validate() error {
	switch r.Action {
	case RecoverRelease, RecoverReload, RecoverReplace, RecoverClose, RecoverReattach:
	default:
		return Errorf(CodeInvalidArgument, "action must be release, reattach, reload, replace or close")
	}
	if err := CheckOpaqueID("target_id", string(r.TargetID)); err != nil {
		return err
	}
	return checkWait(r.WaitS)
}

// Budget is how long the action may take to have its effect.
func (a RecoverAction) Budget() time.Duration {
	if a == RecoverReload || a == RecoverReplace {
		return 10 * time.Second
	}
	return 5 * time.Second
}

// RecoverResult is the page once the recovery has had its effect: a closed page as it was
// last, of a replaced page its successor.
type RecoverResult struct {
	// Page is the page.
	Page Page `json:"page"`
}

// Recovery is what came of recovering a page.
type Recovery struct {
	// Action is what was done.
	Action RecoverAction `json:"action"`
	// Result says whether it had its effect.
	Result RecoveryOutcome `json:"result"`
	// Automatic says that no caller asked: the task's on_wedge did, or the page held a dialog
	// whose frame is gone, the next of which would end the browser (C15).
	Automatic bool `json:"automatic"`
}

// RecoveryOutcome says whether a recovery had its effect.
type RecoveryOutcome string

// The outcomes of a recovery.
const (
	RecoveryOK     RecoveryOutcome = "ok"     // the page answers again, or is closed
	RecoveryFailed RecoveryOutcome = "failed" // it had no effect in time
)

// OnWedge says what a task does by itself about a page that does not answer.
type OnWedge string

// What a task can do by itself.
const (
	// OnWedgeReport does nothing but say so in page_state.
	OnWedgeReport OnWedge = "report"
	// OnWedgeRelease releases a page that is dialog_unreachable.
	OnWedgeRelease OnWedge = "release"
	// OnWedgeReload reloads a page that is dialog_unreachable, crashed or hung; where it
	// takes no reload, it is replaced.
	OnWedgeReload OnWedge = "reload"
	// OnWedgeClose closes such a page.
	OnWedgeClose OnWedge = "close"
)

// For is what is to be done about a page that has come to be in state; "" is
// nothing.
func (w OnWedge) For(state PageState) RecoverAction {
	switch state {
	case PageDialogUnreachable, PageCrashed, PageHung:
	default:
		return ""
	}
	switch w {
	case OnWedgeRelease:
		if state == PageDialogUnreachable {
			return RecoverRelease
		}
	case OnWedgeReload:
		return RecoverReload
	case OnWedgeClose:
		return RecoverClose
	}
	return ""
}
