package mail

import (
	"time"

	"holdfast/messages"
)

// Call is the id of a call that waits for one answer, whose value is of the type that the
// order names. Zero is no call: the sender of the order waits for nothing. The node's table
// of calls (internal/call) gives the answer to the caller.
type Call uint64

// Relay is the answer to a call. It travels behind the facts that it follows from, and the
// supervisor delivers it once those are published: a caller that has its answer reads a
// snapshot that contains them.
type Relay struct {
	To    Call
	Value any
	Err   error
}

// AnswerBlocker is an order to a supervisor: a caller's answer to a blocker. The reply is a
// ClosedBlocker.
type AnswerBlocker struct {
	Answer messages.BlockerAnswer
	Reply  Call
}

// AskHuman is an order to a supervisor: an agent asks a person, for a time. The reply is the Blocker.
type AskHuman struct {
	Reason string
	Within time.Duration
	Reply  Call
}

// SettleBlocker is an order to a session: a page that asks for a permission continues. Setting is
// what the browser is told first, granted or denied; "" leaves it as it is. Context is the task's
// browser context.
type SettleBlocker struct {
	Asked   BlockerAsked
	Setting string
	Context string
}

// Orders to a dialog actor.
type (
	// AnswerDialog is an agent's answer. The reply is a ClosedDialog.
	AnswerDialog struct {
		Answer messages.DialogAnswer
		Reply  Call
	}

	// SetDialogPolicy changes what happens to dialogs from now on.
	SetDialogPolicy struct{ Spec messages.TaskSpec }

	// DialogOver tells that a dialog does not stand open any more, though no link has
	// reported its end: the frame that asked runs again.
	DialogOver struct{ Dialog messages.DialogID }

	// LinkLost tells that a link is gone, and with it its way to answer the
	// dialogs that are open (M1).
	LinkLost struct {
		Role messages.Role
		Gen  Generation
	}

	// PageGone tells that a page no longer exists.
	PageGone struct {
		Page   messages.TargetID
		IsLost bool // with its browser: it was not closed
	}
)

// Orders to a session actor.
type (
	// HandleDialog answers the dialog that stands open on the page. The
	// outcome is a DialogHandled to the dialog actor.
	HandleDialog struct {
		Dialog     messages.DialogID
		Session    messages.SessionID
		Page       messages.TargetID
		MustAccept bool
		Text       *string
		Pause      Pause // of a bridged one
	}

	// ProbeDialog asks the browser whether it would take an answer to the dialog that
	// stands open on the page, without giving one (C58). A DialogProbed to the dialog
	// actor follows. Without a dialog it is the page that is asked about.
	ProbeDialog struct {
		Dialog  messages.DialogID
		Session messages.SessionID
		Page    messages.TargetID
	}

	// MovePage has a doomed dialog closed and its page go where it was going (C58). A
	// PageMoved to the dialog actor follows.
	MovePage struct {
		Session messages.SessionID
		Page    messages.TargetID
	}

	// DialogsOpen tells a session which dialogs of its page wait for an
	// answer; empty when none is left. Holding says that the frame of one of
	// them lives in this session, which therefore cannot run script.
	DialogsOpen struct {
		Dialogs   []messages.Dialog
		IsHolding bool
		// IsPaused says the same of a bridged dialog: what waited when it opened waits
		// for its answer, and what comes later is answered all the same (C47).
		IsPaused bool
	}

	// SharedDialogs tells a session that dialogs of other pages of the task are open in
	// its renderer, which they keep from answering (C59).
	SharedDialogs struct{ Dialogs []messages.Dialog }

	// Navigate drives a page. The reply is a NavigateResult.
	Navigate struct {
		Request messages.NavigateRequest
		Reply   Call
	}

	// SetBridge turns the bridge of a session, or of the anchor, on or off. Of two
	// words the one of the greater epoch counts.
	SetBridge struct {
		IsOn  bool
		By    Mechanism
		Epoch uint64
	}

	// EndRequest ends a request of the bridge that the link of Role holds: with the answer
	// to a dialog of a session, which a DialogHandled reports, or without one, as if it had
	// not been intercepted.
	EndRequest struct {
		Role    messages.Role
		Gen     Generation
		Request string
		Answer  []byte // as JSON; nil: none
		Dialog  messages.DialogID
		Session messages.SessionID
	}

	// RearmBridge says that an agent has changed the debugger of a session, or what it
	// intercepts, by the command Method. Done is answered once what follows from it goes
	// before every later command.
	RearmBridge struct {
		Method string
		Done   Call
	}

	// ProbeSession asks a session to find out whether its renderer still
	// answers: some call has waited for long. With Report a SessionHealth
	// follows in any case, once it does.
	ProbeSession struct{ MustReport bool }

	// RendererReplied tells a session that was asked for a probe that its renderer has
	// answered a call meanwhile.
	RendererReplied struct{}

	// ReloadPage loads a page's document anew, in whatever way the state of its
	// renderer leaves; what the document held is lost. A PageReloaded follows.
	// URL is the page's, for a session that has never heard of it.
	ReloadPage struct{ URL string }

	// ReloadFrames asks a session to tell again of its frames, and of what is
	// attached through it.
	ReloadFrames struct{}

	// HoldPopups has popups held from now on until each client of the gateway that asks for
	// it has resumed them, or no longer.
	HoldPopups struct{ IsOn bool }

	// ClientsAttached says that clients of the gateway are on the task from now on, or no
	// longer: they are a party of its pages.
	ClientsAttached struct{ IsOn bool }

	// ClientsLeft says that the clients of the gateway have left a page, as they were asked to.
	ClientsLeft struct{ Page messages.TargetID }

	// FilesGiven says that a client of the gateway has given files to a file input: a node of the
	// process of a page or frame.
	FilesGiven struct {
		Target messages.TargetID
		Node   int64
	}

	// ClientContexts are the browser contexts that clients of the gateway have made and that
	// are there: what is in them is the task's, and they end with it.
	ClientContexts struct{ IDs []string }

	// PopupSeen says that the clients of the gateway have resumed a page.
	PopupSeen struct{ Page messages.TargetID }

	// ResumePage lets a popup run that is held until both links can see its
	// dialogs.
	ResumePage struct{ Page messages.TargetID }
)

// Orders to the anchor's actor, which takes HandleDialog, ResumePage and Leave
// as well.
type (
	// CoverPage says that a page is the task's.
	CoverPage struct{ Page messages.TargetID }

	// CoverFrame says that a frame of another process is the task's, and again once
	// it is known whether its sandbox keeps it from opening dialogs.
	CoverFrame struct {
		Page       messages.TargetID
		Frame      messages.TargetID
		IsBoxKnown bool // known
		IsShut     bool
	}

	// KeepNative says that the primary was refused the bridge on a page or in a frame, or
	// that it has been given it after all. Where it was refused the anchor ends its own
	// bridge there too, since no party would report its calls.
	KeepNative struct {
		Target messages.TargetID
		IsOn   bool
	}

	// LeavePage asks for the anchor's session of a page to be given up until
	// the next CoverPage. A PageLeft follows.
	LeavePage struct{ Page messages.TargetID }

	// FreeFirst comes before Leave, with a page that may hold the dialog of a frame of
	// another process: if the anchor is to close it, that dialog is ended first, and the
	// page stays while another party is attached to it (C15).
	FreeFirst struct{ Page messages.TargetID }

	// PrimaryUp says whether the primary link stands. While it does not, the
	// anchor lets held popups run by itself (C33).
	PrimaryUp struct{ IsUp bool }
)

// Facts from the anchor to its supervisor.
type (
	// AnchorAttached says that every page the task had is attached: Pages are
	// those of the browser that are the task's.
	AnchorAttached struct {
		Gen   Generation
		Pages []messages.TargetID
	}

	// AnchorSettled says that every page is covered or has been given its time.
	AnchorSettled struct{ Gen Generation }

	// PageUncovered says that the anchor's session of a page has ended.
	PageUncovered struct {
		Gen  Generation
		Page messages.TargetID
	}

	// PageLeft answers LeavePage.
	PageLeft struct {
		Gen  Generation
		Page messages.TargetID
	}
)

// Orders to the browser session's actor.
type (
	// OpenPage opens a tab in the background, or in a window of its own where a person sees
	// none. The reply is a TargetID.
	OpenPage struct {
		URL         string
		IsNewWindow bool
		Context     string // the browser context; "" is the task's
		Reply       Call
	}

	// ClosePage ends a page. With Free it is released of its dialogs first, and closed only
	// while no other party is attached to it: to close a page under the dialog of a frame
	// of another process, or of one that is gone, ends the browser otherwise (C15). With
	// Attached it is the other way round: the page is closed before any session of it is
	// left (C58). The reply is nil. The anchor takes it as well, with Attached and without
	// a reply.
	ClosePage struct {
		Page       messages.TargetID
		MustFree   bool
		IsAttached bool
		Reply      Call
	}

	// ReleasePage frees a page of a dialog that cannot be answered (C19). A PageReleased
	// follows, and a TargetAttached.
	ReleasePage struct{ Page messages.TargetID }

	// ReattachPage has a page's session given up and a new one made. A
	// TargetDetached and a TargetAttached follow. Failed names the session where its actor
	// has failed: only that one is given up, and not before it may be left (C58).
	ReattachPage struct {
		Page   messages.TargetID
		Failed messages.SessionID
	}

	// Leave ends the session in good order: pages that the task made are
	// closed, the others left as they are.
	Leave struct{}
)

// Orders to a supervisor and to the registry.
type (
	// StartTask is get-or-start. The reply is a StartOutcome.
	StartTask struct {
		ID   messages.TaskID
		Spec messages.TaskSpec
		// Caller is who asks; the zero value may ask for all.
		Caller messages.Caller
		// Ticket tells one call from another, for AbandonStart.
		Ticket uint64
		// Admitted is answered once the start does not wait for a place any more.
		Admitted Call
		// Resumed, where not nil, has the task go on that another node had. The answer does
		// not wait for its browser.
		Resumed *Resumed
		Reply   Call
	}

	// AbandonStart says that the caller of a StartTask has gone: it does not wait for a
	// place any more. A start that has begun continues.
	AbandonStart struct {
		ID     messages.TaskID
		Ticket uint64
	}

	// StartOutcome says whether StartTask started something.
	StartOutcome struct{ HasStarted bool }

	// StopTask ends a task. The reply is nil, also when there was none. Reason
	// is shown in the task's last snapshot; empty when the caller asked. Outcome
	// is what it counts as; empty is stopped.
	StopTask struct {
		ID      messages.TaskID
		Reason  string
		Outcome messages.TaskOutcome
		Reply   Call
	}

	// UpdateSpec lays a new spec over a running task that keeps its browser.
	UpdateSpec struct{ Spec messages.TaskSpec }
)

// Facts from a supervisor to the registry.
type (
	// TaskActive says that a task has attached for the first time.
	TaskActive struct {
		ID  messages.TaskID
		Gen uint64 // of the supervisor
	}

	// TaskEnding says that a task is lost or stopped, and that its supervisor is about to
	// end. It is sent before any reader can see that state.
	TaskEnding struct {
		ID  messages.TaskID
		Gen uint64 // of the supervisor
	}
)

// RecoverPage carries a RecoverRequest to a supervisor. The reply is a RecoverResult.
type RecoverPage struct {
	Request messages.RecoverRequest
	Reply   Call
}
