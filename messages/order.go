package messages

// ReplyTo carries an answer back to whoever asked. It is called exactly once
// and does not block; value is of the type that the order names.
type ReplyTo func(value any, err error)

// Relay is an answer on its way to whoever asked. It travels behind the facts
// that it follows from, and the supervisor delivers it once those are
// published: who has an answer reads a snapshot that knows of it.
type Relay struct {
	To    ReplyTo
	Value any
	Err   error
}

// Orders to a dialog actor.
type (
	// AnswerDialog is an agent's answer. The reply is a ClosedDialog.
	AnswerDialog struct {
		Answer DialogAnswer
		Reply  ReplyTo
	}

	// SetDialogPolicy changes what happens to dialogs from now on.
	SetDialogPolicy struct{ Spec TaskSpec }

	// LinkLost tells that the link of Gen is gone, and with it every way to
	// answer the dialogs it announced (M1).
	LinkLost struct{ Gen Generation }

	// PageReattached tells that a page has a session in place of the one it had
	// on the same link.
	PageReattached struct {
		Page    TargetID
		Session SessionID
	}

	// PageGone tells that a page no longer exists.
	PageGone struct{ Page TargetID }
)

// Orders to a session actor.
type (
	// HandleDialog answers the dialog that stands open on the page. The
	// outcome is a DialogHandled to the dialog actor.
	HandleDialog struct {
		Dialog DialogID
		Page   TargetID
		Accept bool
		Text   *string
	}

	// DialogsOpen tells a session which dialogs of its page wait for an
	// answer; empty when none is left. Holding says that the frame of one of
	// them lives in this session, which therefore cannot run script.
	DialogsOpen struct {
		Dialogs []Dialog
		Holding bool
	}

	// Navigate drives a page. The reply is a NavigateResult.
	Navigate struct {
		Request NavigateRequest
		Reply   ReplyTo
	}

	// ProbeSession asks a session to find out whether its renderer still
	// answers: some call has waited for long.
	ProbeSession struct{}

	// ReloadFrames asks a session to tell of its frames again.
	ReloadFrames struct{}
)

// Orders to the browser session's actor.
type (
	// OpenPage opens a tab in the background. The reply is a TargetID.
	OpenPage struct {
		URL       string
		NewWindow bool
		Reply     ReplyTo
	}

	// ClosePage ends a page, safely even when it holds a poisoned dialog
	// (C15). The reply is nil.
	ClosePage struct {
		Page  TargetID
		Reply ReplyTo
	}

	// ReleasePage frees a page of a dialog that nobody can answer (C19). A
	// PageReleased follows, and a TargetAttached.
	ReleasePage struct{ Page TargetID }

	// Leave ends the session in good order: pages that the task made are
	// closed, the others left as they are.
	Leave struct{}
)

// Orders to a supervisor and to the registry.
type (
	// StartTask is get-or-start. The reply is a StartOutcome.
	StartTask struct {
		ID    TaskID
		Spec  TaskSpec
		Reply ReplyTo
	}

	// StartOutcome says whether StartTask started something.
	StartOutcome struct{ Started bool }

	// StopTask ends a task. The reply is nil, also when there was none. Reason
	// is shown in the task's last snapshot; empty when the caller asked.
	StopTask struct {
		ID     TaskID
		Reason string
		Reply  ReplyTo
	}

	// UpdateSpec lays a new spec over a running task that keeps its browser.
	UpdateSpec struct{ Spec TaskSpec }
)

// Facts from a supervisor to the registry.
type (
	// TaskActive says that a task has attached for the first time.
	TaskActive struct {
		ID  TaskID
		Gen uint64 // of the supervisor
	}
)
