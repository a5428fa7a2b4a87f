package step

import (
	"time"

	"holdfast/actors/session/bridge"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Inputs of the machine besides messages.
type (
	// BrowserStarting says that the browser session of gen begins to dial;
	// BrowserWaiting that the next attempt waits for its backoff.
	BrowserStarting struct{ Gen mail.Generation }
	BrowserWaiting  struct{}

	// Linked says that the link of Gen stands.
	Linked struct {
		Gen      mail.Generation
		Endpoint string
		Browser  string // tells one browser process from another; may be ""
	}

	// BrowserExited says that the browser's session has ended. Err is nil when
	// it was asked to.
	BrowserExited struct{ Err error }

	// AnchorStarting, AnchorLinked, AnchorWaiting, AnchorExited and AnchorGaveUp say the
	// same of the second link.
	AnchorStarting struct{ Gen mail.Generation }
	AnchorLinked   struct {
		Gen     mail.Generation
		Browser string
	}
	AnchorWaiting struct{}
	AnchorExited  struct{ Err error }
	AnchorGaveUp  struct{}

	// GaveUp says that the restart policy will not try again.
	GaveUp struct{ Err error }

	// BrowserGone says that the browser the node launched has ended.
	BrowserGone struct{ Why string }

	// PageOpened is the outcome of an OpenTab.
	PageOpened struct {
		Target messages.TargetID
		Err    error
		URL    string
		Order  *messages.NavigateRequest
		Reply  mail.Call
	}

	// PageReplaced is the outcome of a ReplaceTab: New is the page in place of Page.
	PageReplaced struct {
		Page, New messages.TargetID
		Err       error
	}

	// Elsewhere are the sites that wait in dialogs of other tasks of the browser.
	Elsewhere struct{ Sites []string }

	// PageShut is the outcome of a ShutTab.
	PageShut struct {
		Page messages.TargetID
		Err  error
	}

	// FramesRestarted says that the frame actor begins anew on the same link.
	FramesRestarted struct{}

	// DialogsRestarted says that the dialog actor begins anew, or for the first
	// time, with the memory the machine has.
	DialogsRestarted struct{}

	// SessionFailed says that a session's actor has failed. None takes its place: the
	// session is given up.
	SessionFailed struct{ Session messages.SessionID }

	// WantedFull says that something an agent set will not be set again.
	WantedFull struct{}

	// Flush publishes what was held back to be published together.
	Flush struct{}

	// TimerFired is an Arm that has come due.
	TimerFired struct{ Name string }
)

// Effects of the machine.
type (
	// Effect is something that the machine wants done. The set is closed: the shell
	// panics on one it does not know.
	Effect interface{ effect() }

	// Publish shows the state as it is now, with what is new in it: a [view.News].
	Publish struct {
		Before uint64
		At     messages.Seconds
		Errors []*messages.ConsoleError
		Events []messages.Event
	}

	// FlushSoon asks for a Flush after what is in the mailbox now.
	FlushSoon struct{}

	// SpawnSession and StopSession start and end a session's actor.
	SpawnSession struct{ Session messages.SessionID }
	StopSession  struct{ Session messages.SessionID }

	// ToDialog, ToFrame, ToBrowser and ToSession are messages to the children.
	ToDialog  struct{ Msg any }
	ToFrame   struct{ Msg any }
	ToBrowser struct{ Msg any }
	ToSession struct {
		Session messages.SessionID
		Msg     any
	}

	// StartAnchor and StopAnchor start and end the second link's actor. A trial is
	// one dial, after a verdict that there can be no anchor.
	StartAnchor struct{ IsTrial bool }
	StopAnchor  struct{}

	// ToAnchor is a message to it; AnchorReady tells its restart policy that
	// the link is healthy.
	ToAnchor    struct{ Msg any }
	AnchorReady struct{}

	// Ready tells the restart policy that the link is healthy.
	Ready struct{}

	// SessionsGaveUp says that the task ends since actors of sessions have failed too often.
	SessionsGaveUp struct{}

	// SetPatience tells it how long a lost link is tried for, from now on.
	SetPatience struct{ Patience time.Duration }

	// FramesStable tells it that the forest is.
	FramesStable struct{}

	// BrowserRestarted tells operators that Pages of the task died with the
	// browser they were in.
	BrowserRestarted struct{ Pages int }

	// FirstActive tells the registry that the task has attached.
	FirstActive struct{}

	// OpenTab asks the browser's session for a blank page; PageOpened follows. With an
	// Order the reply is that of the navigation, else the page's id.
	OpenTab struct {
		URL         string
		IsNewWindow bool
		Context     string // "" is the task's
		Order       *messages.NavigateRequest
		Reply       mail.Call
	}

	// NavigateOpened has a new page go to URL; the answer to Reply is the page, whether it
	// arrives there or not.
	NavigateOpened struct {
		Session messages.SessionID
		Page    messages.TargetID
		URL     string
		Reply   mail.Call
	}

	// ReplaceTab opens a page at URL that is to take another one's place; PageReplaced
	// follows.
	ReplaceTab struct {
		Page messages.TargetID
		URL  string
	}

	// ShutTab asks the browser's session to close a page; PageShut follows.
	ShutTab struct{ Page messages.TargetID }

	// Asks tells the node the sites in whose renderers dialogs of the task are open, in
	// the browser of that mark.
	Asks struct {
		Browser string
		Sites   []string
	}

	// LetGo resumes and leaves an out-of-process iframe that is one too many.
	LetGo struct{ Target mail.TargetAttached }

	// Warn writes a line to the log about a page.
	Warn struct {
		Text string
		Page messages.TargetID
		Err  error
	}

	// BridgeTaken says that the task has turned to the bridge: a dialog was closed
	// so soon after it had opened.
	BridgeTaken struct {
		Dialog messages.DialogID
		After  time.Duration
	}

	// Arm sets a named timer anew.
	Arm struct {
		Name  string
		After time.Duration
	}

	// ArmSpread is Arm with a random share of Spread added.
	ArmSpread struct {
		Name          string
		After, Spread time.Duration
	}

	// Answer replies to the caller of an order.
	Answer struct {
		To    mail.Call
		Value any
		Err   error
	}

	// ClientPages shows the clients of the gateway which pages to keep off, and which they
	// may not leave. StandbyOff are those that the standby on another node keeps off.
	ClientPages struct{ Off, Kept, StandbyOff []messages.TargetID }

	// StartLink begins the primary link of a standby that takes its task over.
	StartLink struct{}

	// TellSiblings is for the tasks that have the same pages.
	TellSiblings struct {
		Left bridge.SiblingLeft
		// MustRemember says that it is for those as well that come to the pages later: also where
		// the primary gave them back, since a second link that has fallen silent may hold them.
		MustRemember bool
	}

	// Finish ends the supervisor, and the browser that was launched for it; Err
	// is nil when it was asked to.
	Finish struct{ Err error }
)

func (Publish) effect()          {}
func (FlushSoon) effect()        {}
func (SpawnSession) effect()     {}
func (StopSession) effect()      {}
func (ToDialog) effect()         {}
func (ToFrame) effect()          {}
func (ToBrowser) effect()        {}
func (ToSession) effect()        {}
func (StartAnchor) effect()      {}
func (StopAnchor) effect()       {}
func (ToAnchor) effect()         {}
func (AnchorReady) effect()      {}
func (Ready) effect()            {}
func (SessionsGaveUp) effect()   {}
func (SetPatience) effect()      {}
func (FramesStable) effect()     {}
func (BrowserRestarted) effect() {}
func (FirstActive) effect()      {}
func (OpenTab) effect()          {}
func (NavigateOpened) effect()   {}
func (ReplaceTab) effect()       {}
func (ShutTab) effect()          {}
func (Asks) effect()             {}
func (LetGo) effect()            {}
func (Warn) effect()             {}
func (BridgeTaken) effect()      {}
func (Arm) effect()              {}
func (ArmSpread) effect()        {}
func (Answer) effect()           {}
func (ClientPages) effect()      {}
func (StartLink) effect()        {}
func (Finish) effect()           {}
func (TellSiblings) effect()     {}
