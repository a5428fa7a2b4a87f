package messages

import "time"

// RecoverAction is a way to get a page back that does not answer.
type RecoverAction string

// The actions, the gentlest first.
const (
	// RecoverRelease frees a page of a dialog that nobody can reach. The page
	// keeps its state; the dialog is dismissed (C19).
	RecoverRelease RecoverAction = "release"
	// RecoverReattach gives up the page's session and makes a new one. The page
	// notices nothing of it.
	RecoverReattach RecoverAction = "reattach"
	// RecoverReload loads the document anew; what it held is lost.
	RecoverReload RecoverAction = "reload"
	// RecoverReplace opens a new page of the task at the page's last address, and closes
	// the page. It is for a page that nothing else brings back.
	RecoverReplace RecoverAction = "replace"
	// RecoverClose closes the page. It always works.
	RecoverClose RecoverAction = "close"
)

// RecoverActions lists them, in this order.
func RecoverActions() []RecoverAction {
	return []RecoverAction{RecoverRelease, RecoverReattach, RecoverReload, RecoverReplace, RecoverClose}
}

// RecoverRequest asks for a page of a task to be recovered. Without TargetID it
// is the snapshot's page_target_id.
type RecoverRequest struct {
	Action   RecoverAction `json:"action"`
	TargetID TargetID      `json:"target_id,omitempty"`
	WaitS    *float64      `json:"wait_s,omitempty"`
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

// RecoverResult is the page as it is once the recovery has had its effect; one
// that was closed as it was last, and one that was replaced as its successor is.
type RecoverResult struct {
	Page Page `json:"page"`
}

// Recovery is what came of recovering a page. Automatic says that nobody asked:
// the spec's on_wedge did, or the page held a dialog whose frame is gone, the
// next of which would take the browser along (C15).
type Recovery struct {
	Action    RecoverAction `json:"action"`
	Result    string        `json:"result"`
	Automatic bool          `json:"automatic"`
}

// The results of a recovery.
const (
	RecoveryOK     = "ok"
	RecoveryFailed = "failed"
)

// OnWedge says what a task does by itself about a page that does not answer.
type OnWedge string

// What a task can do by itself.
const (
	// OnWedgeReport does nothing: page_state says it.
	OnWedgeReport OnWedge = "report"
	// OnWedgeRelease releases a page that is dialog_unreachable.
	OnWedgeRelease OnWedge = "release"
	// OnWedgeReload reloads one that is dialog_unreachable, crashed or hung.
	OnWedgeReload OnWedge = "reload"
	// OnWedgeClose closes it.
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
