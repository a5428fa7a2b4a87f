package mail

import (
	"time"

	"holdfast/messages"
)

// TargetInfo is what the browser says of a target.
type TargetInfo struct {
	ID          messages.TargetID
	Type        string
	URL         string
	Title       string
	Opener      messages.TargetID
	ParentFrame messages.FrameID // of an out-of-process iframe
	// CanAccessOpener marks the popups that run as soon as one of the clients
	// that hold them lets them go; all others wait for every one.
	CanAccessOpener bool
	// Context is the browser context the target is in.
	Context string
}

// FrameInfo is one frame's document.
type FrameInfo struct {
	ID     messages.FrameID
	Parent messages.FrameID
	Loader string
	URL    string
	Origin string
}

// BlockerAsked is a page's question that waits for a word: which it is, in which script context,
// and of which site. The zero value is that of a blocker that nothing waits for.
type BlockerAsked struct {
	Key     string
	Context int64
	Top     string // origin of the page's main frame
	Origin  string // of the frame that asks
	Names   string // of the permissions, with commas
}

// Facts are several facts of one sender, in order. They mean what they would mean if
// each had come by itself; what follows from them may be told once.
type Facts []any

// Facts about links and targets. Gen is the link's generation.
type (
	// RootAttached says that the browser session has attached: Pages are all
	// the pages of the task that exist, each announced by a TargetAttached
	// before.
	RootAttached struct {
		Gen   Generation
		Pages []messages.TargetID
	}

	// Isolated says which browser context the task's pages are made in: its own, or
	// with "" the browser's, and why.
	Isolated struct {
		Gen     Generation
		Context string
		Off     messages.IsolationOff
	}

	// TargetAttached says that a CDP session to a page or to an out-of-process
	// iframe of the task exists. Via is the session that reported it (empty:
	// the browser's), Page the top-level target it belongs to.
	TargetAttached struct {
		Gen       Generation
		Session   messages.SessionID
		Via       messages.SessionID
		Page      messages.TargetID
		Info      TargetInfo
		IsWaiting bool // held by the browser until it is told to run
	}

	// TargetsAttached are all sessions that are attached through a session, as
	// they were announced. It is for a frame actor that begins anew, and from a
	// session's that does: what the one before it was told last is lost.
	TargetsAttached struct {
		Gen     Generation
		Session messages.SessionID
		Targets []TargetAttached
	}

	// TargetDetached says that a CDP session is gone. The frame or page may
	// live on.
	TargetDetached struct {
		Gen     Generation
		Session messages.SessionID
		Via     messages.SessionID
	}

	// PageInfoChanged carries a page's new URL or title.
	PageInfoChanged struct {
		Gen  Generation
		Info TargetInfo
	}

	// PageClosed says that a page of the task is no more.
	PageClosed struct {
		Gen  Generation
		Page messages.TargetID
	}

	// PageKept says that an order to close a page has failed.
	PageKept struct {
		Gen  Generation
		Page messages.TargetID
	}

	// PageReleased says that a page was freed of a dialog that could not be answered (C19)
	// and is being attached anew.
	PageReleased struct {
		Gen  Generation
		Page messages.TargetID
	}

	// PageReloaded says that a ReloadPage has brought a new document that
	// answers, or asks something, or why it cannot.
	PageReloaded struct {
		Gen     Generation
		Session messages.SessionID
		Page    messages.TargetID
		Err     error // nil, or an *Error
	}

	// SessionReady says that a session's attach has ended. Blocked is set when the page did
	// not answer in time: its state says why, and no actor waits for it.
	SessionReady struct {
		Gen       Generation
		Session   messages.SessionID
		Target    messages.TargetID
		IsBlocked bool
	}

	// SessionHealth says what a session's renderer can do, dialogs apart.
	SessionHealth struct {
		Gen     Generation
		Session messages.SessionID
		Page    messages.TargetID
		IsPage  bool
		State   messages.PageState
		// Since is when the silence that has this name began: what the renderer has
		// answered after that refutes it.
		Since time.Time
		// IsStranded says of a page that hangs that its next document waits for the
		// renderer that does: no navigation and no reload reaches it any more.
		IsStranded bool
	}

	// PageNavigated says that the page's main frame has a new document.
	PageNavigated struct {
		Gen  Generation
		Page messages.TargetID
		URL  string
	}

	// ConsoleReported is an error on a page's console, or an exception. The
	// browser keeps what a target said and says it again to every new session.
	ConsoleReported struct {
		Gen    Generation
		Page   messages.TargetID
		Target messages.TargetID // the page, or its iframe
		Entry  messages.ConsoleError
		IsCut  bool // its text was longer
	}

	// ConsoleReports are several of them that a target's session has heard of in one
	// go, in order. They mean what they would mean if each had come by itself.
	ConsoleReports struct {
		Gen     Generation
		Page    messages.TargetID
		Target  messages.TargetID
		Entries []messages.ConsoleError
	}
)

// Facts about frames, as one session saw them.
type (
	// FrameTreeLoaded is a session's own view of its frames; frames of other
	// processes are not in it (M12).
	FrameTreeLoaded struct {
		Gen     Generation
		Session messages.SessionID
		Page    messages.TargetID
		Frames  []FrameInfo // each after its parent; the first is the session's root
	}

	// FrameAttached says that a frame element was added to a document.
	FrameAttached struct {
		Gen     Generation
		Session messages.SessionID
		Page    messages.TargetID
		Frame   messages.FrameID
		Parent  messages.FrameID
	}

	// FrameNavigated says that a frame has a new document. Restored ones come out of the
	// back-forward cache, with frames that no event announces.
	FrameNavigated struct {
		Gen        Generation
		Session    messages.SessionID
		Page       messages.TargetID
		Frame      FrameInfo
		IsRestored bool
		IsPDF      bool
		Heard      time.Time // zero where it is not known
	}

	// BlockerRaised says that a page asks its browser for something, or is not shown. Of the
	// blocker what the session knows is filled in.
	BlockerRaised struct {
		Gen     Generation
		Page    messages.TargetID
		Target  messages.TargetID // of the session
		Blocker messages.Blocker
		Asked   BlockerAsked
	}

	// FrameMoved says that a frame is about to have another document, has it, or has gone.
	// A native dialog of the document before, or of one below it, ends with that.
	FrameMoved struct {
		Gen   Generation
		Page  messages.TargetID
		Frame messages.FrameID
		Heard time.Time // zero where it is not known
	}

	// FrameURLChanged is a navigation within a document.
	FrameURLChanged struct {
		Gen     Generation
		Session messages.SessionID
		Frame   messages.FrameID
		URL     string
	}

	// FrameDetached says that a session no longer has a frame. Swap means
	// that another process has it now: not a removal (F5).
	FrameDetached struct {
		Gen     Generation
		Session messages.SessionID
		Frame   messages.FrameID
		IsSwap  bool
	}

	// FrameSubtreeWillBeDetached announces a removal before it happens.
	FrameSubtreeWillBeDetached struct {
		Gen     Generation
		Session messages.SessionID
		Frame   messages.FrameID
	}

	// FramesRemoved says, for the dialogs' sake, that these frames of a page
	// are going or gone (C15).
	FramesRemoved struct {
		Gen    Generation
		Page   messages.TargetID
		Frames []messages.FrameID
	}

	// FramesUnheard says that what a session has told of its frames may have been
	// dropped, since the forest had not heard of the session.
	FramesUnheard struct {
		Gen     Generation
		Session messages.SessionID
	}

	// FramesChanged carries a page's whole tree as it is now. A nil Tree says
	// that the page is gone.
	FramesChanged struct {
		Gen  Generation
		Page messages.TargetID
		Tree *messages.FrameTree
	}
)

// Facts about dialogs.
type (
	// DialogOpened is Page.javascriptDialogOpening, raw. It always comes on
	// the session of the top page (C7); Frame tells whose it is.
	DialogOpened struct {
		Role    messages.Role
		Gen     Generation
		Session messages.SessionID
		Page    messages.TargetID
		Frame   messages.FrameID
		Type    messages.DialogType
		Message string
		Default string
		URL     string
		Heard   time.Time // when the link told of it

		// Of a bridged dialog, which comes on the session that holds it.
		Pause Pause
	}

	// BridgedOver says that a bridged dialog does not wait any more, and that it
	// was not we who answered it.
	BridgedOver struct {
		Role    messages.Role
		Session messages.SessionID
		Key     string
		// IsGone says that its document, or its process, has gone while it waited: an answer
		// that it had was never taken up.
		IsGone bool
	}

	// SessionGone says that a session that could answer bridged dialogs has ended.
	SessionGone struct {
		Role    messages.Role
		Session messages.SessionID
	}

	// SessionFailed says that the actor of the primary's session on a page has failed, and the
	// session is given up: no dialog is reported or answered by it any more.
	SessionFailed struct {
		Page    messages.TargetID
		Session messages.SessionID
	}

	// FrameBoxed says whether the sandbox of a frame with a session of its own keeps
	// it from opening dialogs.
	FrameBoxed struct {
		Gen     Generation
		Session messages.SessionID
		IsShut  bool
	}

	// BridgeNeeded says that another client closes native dialogs before they can be
	// answered.
	BridgeNeeded struct {
		Dialog messages.DialogID
		Page   messages.TargetID
		Frame  messages.FrameID
		Heard  time.Time // of its opening, by the first link that told of it
		After  time.Duration
	}

	// BridgeStands says that a session's documents have the functions of the bridge,
	// or their own again.
	BridgeStands struct {
		Role    messages.Role
		Gen     Generation
		Session messages.SessionID
		IsOn    bool
		// IsUnable says that one of the documents can have none.
		IsUnable bool
	}

	// BridgeRefused says that the browser does not give a session what the bridge
	// needs.
	BridgeRefused struct {
		Gen     Generation
		Session messages.SessionID
		By      Mechanism
		Err     error
	}

	// RequestsHeard says whether the browser's session hears the requests of the
	// bridge.
	RequestsHeard struct {
		Gen Generation
		Err error
	}

	// RequestHeld is a request of the bridge that waits, by the label of the session
	// it is for.
	RequestHeld struct {
		Role    messages.Role // whose link holds it
		Gen     Generation
		Label   string
		Key     string
		Frame   messages.FrameID
		Request string // its id, of the browser's session
		// IsUnspoken says that the primary's session has no word of it.
		IsUnspoken bool
	}

	// DialogClosed is Page.javascriptDialogClosed.
	DialogClosed struct {
		Role       messages.Role
		Gen        Generation
		Session    messages.SessionID
		Page       messages.TargetID
		Frame      messages.FrameID
		IsAccepted bool
		Text       string // what a prompt was given
	}

	// PageWatched says that a link has a session on a page, in place of any earlier one.
	// Its Page domain is about to be enabled. Of a dialog that is open already the session
	// gets the end at most.
	PageWatched struct {
		Role    messages.Role
		Gen     Generation
		Page    messages.TargetID
		Session messages.SessionID
	}

	// NoneAsks says to a dialog actor that has started anew that none of the native
	// dialogs stands which the session has told of: the end may have been told to the
	// actor before it.
	NoneAsks struct {
		Page    messages.TargetID
		Session messages.SessionID
	}

	// PageCovered says that the Page domain of such a session is enabled: what
	// opens from now on can be answered through it (M2).
	PageCovered struct {
		Role    messages.Role
		Gen     Generation
		Page    messages.TargetID
		Session messages.SessionID
	}

	// DialogHandled is the outcome of a HandleDialog to the session named.
	DialogHandled struct {
		Dialog  messages.DialogID
		Session messages.SessionID
		Err     error // nil, or an *Error
	}

	// DialogProbed is the outcome of a ProbeDialog to the session named.
	DialogProbed struct {
		Dialog  messages.DialogID
		Session messages.SessionID
		Page    messages.TargetID
		Err     error // an *Error: the browser's refusal, or why it was not asked
	}

	// PageMoved is the outcome of a MovePage to the session named.
	PageMoved struct {
		Session messages.SessionID
		Page    messages.TargetID
		Err     error // nil, or an *Error
	}

	// PageDoomed says that a page has, or no longer has, a dialog whose document is being
	// replaced: while it has, no session of it may be left (C58). With Close nothing but
	// its end helps, and it is to be closed with every session attached.
	PageDoomed struct {
		Page      messages.TargetID
		Is        bool
		MustClose bool
	}

	// AnswerTaken says that a bridged dialog's call has its answer, and continues with it
	// once any party resumes it. The end of its document comes first, if it does (C47).
	AnswerTaken struct {
		Dialog  messages.DialogID
		Session messages.SessionID
	}

	// DialogsChanged is the dialog actor's whole state after a change: what the snapshot
	// shows, and what a restarted dialog actor starts from.
	DialogsChanged struct {
		Memory  DialogMemory
		Pending []messages.Dialog
		Opened  *messages.Dialog
		Closed  *messages.ClosedDialog
	}

	// PageUnreachable says that a page holds a dialog that no command can
	// reach. Poisoned marks the one that would take the browser with it (C15).
	PageUnreachable struct {
		Page       messages.TargetID
		IsPoisoned bool
	}
)

// Generation counts the links of one role of a task: the first is 1, each
// reconnect adds one. A message of an older generation is dropped wherever it
// arrives.
type Generation uint64
