package messages

import "time"

// TaskState is where a task stands in its life.
type TaskState string

// The states of the contract.
const (
	StateStarting   TaskState = "starting"   // it attaches to its browser
	StateActive     TaskState = "active"     // it is attached, and its pages answer
	StateRecovering TaskState = "recovering" // its primary connection is lost and dialled again
	StateWedged     TaskState = "wedged"     // a page does not answer, see page_state
	StateLost       TaskState = "lost"       // it was given up; restart or PUT starts it again
	StateStopped    TaskState = "stopped"    // it was ended
)

// TaskStates lists every state, in its order.
func TaskStates() []TaskState {
	return []TaskState{StateStarting, StateActive, StateRecovering, StateWedged, StateLost, StateStopped}
}

// IsActive says whether the task is supervised: neither lost nor stopped.
func (s TaskState) IsActive() bool { return s != StateLost && s != StateStopped }

// PageState is what is known of a page's ability to answer.
type PageState string

// The page states of the contract.
const (
	PageOK                PageState = "ok"                 // it answers
	PageDialog            PageState = "dialog"             // an open dialog waits for an answer
	PageDialogUnreachable PageState = "dialog_unreachable" // a dialog is open that no connection can answer
	PageCrashed           PageState = "crashed"            // its renderer process has ended
	PageHung              PageState = "hung"               // its script does not end
	PagePaused            PageState = "paused"             // a debugger holds it
	// PageBlockedElsewhere is a page whose renderer waits for a dialog of another task or
	// of another client (C59). It answers again by itself once that dialog is closed.
	PageBlockedElsewhere PageState = "blocked_elsewhere"
)

// LinkState is the state of one upstream connection.
type LinkState string

// The link states of the contract.
const (
	LinkUp      LinkState = "up"      // it stands
	LinkDialing LinkState = "dialing" // it is being connected
	LinkBackoff LinkState = "backoff" // a dial failed; the next one waits
	LinkDown    LinkState = "down"    // there is none
)

// IsolationOff says why a task whose isolation is auto shares the browser's
// context.
type IsolationOff string

// Why a task is not isolated.
const (
	IsolationOffHeaded  IsolationOff = "headed"  // the browser has windows, and maybe a person's logins
	IsolationOffRefused IsolationOff = "refused" // it makes no context
)

// AnchorOff says why a task has no anchor.
type AnchorOff string

// Why a task has no anchor.
const (
	AnchorOffSpec        AnchorOff = "spec"        // anchor: off
	AnchorOffForeign     AnchorOff = "foreign"     // each connection gets a browser of its own
	AnchorOffSingle      AnchorOff = "single"      // the browser takes one connection at a time
	AnchorOffUnreachable AnchorOff = "unreachable" // every attempt has failed
)

// AnchorOffs lists every reason.
func AnchorOffs() []AnchorOff {
	return []AnchorOff{AnchorOffSpec, AnchorOffForeign, AnchorOffSingle, AnchorOffUnreachable}
}

// ClosedBy says who ended a dialog.
type ClosedBy string

// Who can end a dialog.
const (
	ClosedByAgent      ClosedBy = "agent"       // an answer of a caller
	ClosedByHuman      ClosedBy = "human"       // an answer of a person, by the word of the caller
	ClosedByRule       ClosedBy = "rule"        // a rule of the task or of the node
	ClosedByAutoPolicy ClosedBy = "auto_policy" // the task's dialog_policy or beforeunload
	ClosedByWatchdog   ClosedBy = "watchdog"    // dialog_timeout_s ended
	ClosedByRemote     ClosedBy = "remote"      // another client of the browser, a navigation, or the page's end
	ClosedByLost       ClosedBy = "lost"        // no connection was left that could answer it
)

// DialogType is the kind of a dialog.
type DialogType string

// The kinds of dialogs.
const (
	DialogAlert        DialogType = "alert"        // a message
	DialogConfirm      DialogType = "confirm"      // a question
	DialogPrompt       DialogType = "prompt"       // a question whose answer is a text
	DialogBeforeUnload DialogType = "beforeunload" // may the page be left?
)

// DialogPath says how a dialog came.
type DialogPath string

// The paths of a dialog.
const (
	PathNative DialogPath = "native" // it is Chrome's own
	PathBridge DialogPath = "bridge" // a function of the node's asks in its place
)

// BridgeBy says how the bridge makes pages wait.
type BridgeBy string

// The ways in which the bridge makes pages wait.
const (
	BridgeByDebugger BridgeBy = "debugger" // by a pause of the debugger
	BridgeByRequest  BridgeBy = "request"  // by a request that is held
)

// ConsoleLevel says what a console error is.
type ConsoleLevel string

// The levels of console errors.
const (
	ConsoleException ConsoleLevel = "exception" // an exception that nothing caught
	ConsoleErrorLine ConsoleLevel = "error"     // what a page wrote as an error
)

// Snapshot is the state of a task at one version. Clients ignore fields they do not know.
//
// It is immutable; everything it points at is shared and must not be written.
// Without a supervisor the dialog and frame fields are absent, not empty
// (requirement D27), hence the omitzero slices: an empty non-nil slice is
// written as [].
type Snapshot struct {
	// TaskID is the id of the task.
	TaskID TaskID `json:"task_id"`
	// Node is the node of a cluster that supervises the task.
	Node string `json:"node,omitempty"`
	// Epoch grows with each change of that node.
	Epoch uint64 `json:"epoch,omitempty"`
	// AnchorNode is the node that has a connection to the task's pages as well, and takes the task
	// over should Node end; absent while there is none.
	AnchorNode string `json:"anchor_node,omitempty"`
	// Lease is lapsed while that node decides nothing.
	Lease LeaseState `json:"lease,omitempty"`
	// State is where the task stands in its life.
	State TaskState `json:"state"`
	// Version grows with every change of the task.
	Version uint64 `json:"version"`
	// Active is false once the task is lost or stopped.
	Active bool `json:"active"`
	// Reason is why the task is in its state, where there is more to say.
	Reason string `json:"reason,omitempty"`
	// Connection is the state of the two connections to the browser.
	Connection Connection `json:"connection"`
	// PageTargetID is the current page: the one last navigated or opened.
	PageTargetID TargetID `json:"page_target_id,omitempty"`
	// PageState is the state of the current page.
	PageState PageState `json:"page_state,omitempty"`
	// Pages are the task's pages, popups included.
	Pages []Page `json:"pages,omitzero"`
	// PendingDialogs are the open dialogs, the oldest first.
	PendingDialogs []Dialog `json:"pending_dialogs,omitzero"`
	// RecentDialogs are the closed dialogs, at most [MaxRecentDialogs], the oldest first.
	RecentDialogs []ClosedDialog `json:"recent_dialogs,omitzero"`
	// Blockers are what pages ask their browser for, and what keeps them from being shown, besides
	// dialogs, the oldest first; absent where there is none.
	Blockers []Blocker `json:"blockers,omitempty"`
	// FrameTree holds the frames of the current page, or of the one that target_id asks for.
	FrameTree *FrameTree `json:"frame_tree,omitempty"`
	// ConsoleErrors are the newest errors of the pages' consoles, at most
	// [MaxConsoleErrors], the oldest first.
	ConsoleErrors []ConsoleError `json:"console_errors,omitzero"`
	// Labels are those of the task's spec.
	Labels map[string]string `json:"labels,omitempty"`
	// LastPage is where the current page was when the task ended.
	LastPage *LastPage `json:"last_page,omitempty"`
}

// LastPage is what is left of a page once its task has ended.
type LastPage struct {
	// URL is the address of the page.
	URL string `json:"url"`
	// Title is the title of the page.
	Title string `json:"title,omitempty"`
}

// Connection is the state of a task's two connections to its browser.
type Connection struct {
	// Primary is the connection that everything but an orphaned dialog goes over.
	Primary LinkState `json:"primary"`
	// Anchor is the second connection. It watches for dialogs, and answers them
	// while the primary is lost.
	Anchor LinkState `json:"anchor"`
	// AnchorOff is why there is no anchor; absent where there is one or one is being dialled.
	AnchorOff AnchorOff `json:"anchor_off,omitempty"`
	// Isolation is context where the pages are in a browser context of the task's own, shared
	// where they are in the browser's, and absent until that is known.
	Isolation Isolation `json:"isolation,omitempty" jsonschema:"enum=context,enum=shared"`
	// IsolationOff is why a task of scope own and isolation auto shares the browser's context.
	IsolationOff IsolationOff `json:"isolation_off,omitempty"`
	// Reconnects is how often the primary was lost and came back.
	Reconnects uint64 `json:"reconnects"`
	// BrowserRestarts counts the reconnects that found another browser at
	// the same address. The pages from before are gone then.
	BrowserRestarts uint64 `json:"browser_restarts"`
	// LastGapMS is how long the primary was away the last time, in milliseconds.
	LastGapMS int64 `json:"last_gap_ms"`
	// RecoveringSince is when the primary was lost. This field and the three below it
	// are absent while the primary stands.
	RecoveringSince Seconds `json:"recovering_since,omitempty"`
	// Attempt counts the dials since then, the one under way included.
	Attempt int `json:"attempt,omitempty"`
	// GiveUpAfterS is the time in seconds after which the task is lost. Five failed dials
	// have to come together with it.
	GiveUpAfterS float64 `json:"give_up_after_s,omitempty"`
	// LastError is why the primary was lost, or why the last dial failed: at most 200
	// bytes, redacted, and in part the browser's words.
	LastError string `json:"last_error,omitempty"`
	// Bridge is on where the pages' dialogs are to come over the bridge, else native.
	// What holds for one page stands with the page.
	Bridge Bridge `json:"bridge" jsonschema:"enum=native,enum=on"`
	// BridgeBy is how the bridge makes pages wait, where it is on.
	BridgeBy BridgeBy `json:"bridge_by,omitempty"`
	// WantedTruncated says that callers have set more than is remembered (128 things or
	// 1 MiB a page): some of it will not be there after a reconnect.
	WantedTruncated bool `json:"wanted_truncated,omitempty"`
	// Endpoint is the address of the browser, without its credentials.
	Endpoint string `json:"endpoint"`
}

// Page is one top-level target of the task: a tab or a popup.
type Page struct {
	// TargetID is CDP's id of the page.
	TargetID TargetID `json:"target_id"`
	// SessionID names the session on the primary; empty while there is none. The id is CDP's,
	// or the node's own where tasks share a connection.
	SessionID SessionID `json:"session_id"`
	// URL is the address of the page. It comes from the page: do not trust it.
	URL string `json:"url"`
	// Title is the title of the page. It comes from the page: do not trust it.
	Title string `json:"title"`
	// OpenerID is the page that opened this one; null where none did.
	OpenerID *TargetID `json:"opener_id"`
	// PageState says whether the page answers.
	PageState PageState `json:"page_state"`
	// Bridge is native, on, or unavailable where the task's bridge cannot work.
	Bridge Bridge `json:"bridge" jsonschema:"enum=native,enum=on,enum=unavailable"`
	// Restoring names the raw CDP methods whose settings the browser has refused on the
	// page's new session so far. They are sent again for a minute, and with the page's
	// next document (C61).
	Restoring []string `json:"restoring,omitempty"`
}

// Dialog is an open dialog. Its texts come from the page: do not trust them. What looks
// like a secret in them is masked (requirement D28).
type Dialog struct {
	// ID names the dialog within the task.
	ID DialogID `json:"id"`
	// Type is the function that opened it.
	Type DialogType `json:"type"`
	// Message is the question.
	Message string `json:"message"`
	// DefaultPrompt is the text that a prompt suggests.
	DefaultPrompt string `json:"default_prompt"`
	// OpenedAt is when it opened.
	OpenedAt Seconds `json:"opened_at"`
	// FrameID is the frame that asks.
	FrameID FrameID `json:"frame_id"`
	// FrameURL is the address of that frame.
	FrameURL string `json:"frame_url,omitempty"`
	// TargetID is the page that asks.
	TargetID TargetID `json:"target_id"`
	// SessionID is the CDP session that answers it; empty while there is none.
	SessionID SessionID `json:"session_id"`
	// Path is native for a dialog of the browser's own, and bridge for one of the bridge.
	Path DialogPath `json:"path"`
	// ExpiresAt is when the watchdog dismisses it.
	ExpiresAt Seconds `json:"expires_at"`
	// Rule names the rule that holds for it: dialog_rules or node_rules and its place.
	Rule string `json:"rule,omitempty"`
	// WaitsFor is human where that rule wants a person's answer, agent where it wants a
	// caller's; absent where the task's policy decides.
	WaitsFor Answerer `json:"waits_for,omitempty"`
	// Heard is when the first link reported it.
	Heard time.Time `json:"-"`
	// Holds says of a bridged dialog that its page answers nothing while it waits.
	Holds bool `json:"-"`
}

// ClosedDialog is a dialog of the past.
type ClosedDialog struct {
	// ID names the dialog within the task.
	ID DialogID `json:"id"`
	// Type is the function that opened it.
	Type DialogType `json:"type"`
	// Message is the question. It comes from the page: do not trust it.
	Message string `json:"message"`
	// OpenedAt is when it opened.
	OpenedAt Seconds `json:"opened_at"`
	// ClosedAt is when it closed.
	ClosedAt Seconds `json:"closed_at"`
	// ClosedBy is what closed it.
	ClosedBy ClosedBy `json:"closed_by"`
	// FrameID is the frame that asked.
	FrameID FrameID `json:"frame_id,omitempty"`
	// TargetID is the page that asked.
	TargetID TargetID `json:"target_id,omitempty"`
	// Action is the answer, where a caller, a policy or the watchdog gave it.
	Action Action `json:"action,omitempty"`
	// Rule names the rule that held for it, also where another closed it.
	Rule string `json:"rule,omitempty"`
	// Path is native for a dialog of the browser's own, and bridge for one of the bridge.
	Path DialogPath `json:"path,omitempty"`
	// Promoted says that an answer went through the anchor because the primary
	// had no way to the dialog.
	Promoted bool `json:"-"`
}

// FrameTree is the frames of one page as a flat list.
type FrameTree struct {
	// Top is the main frame.
	Top FrameTop `json:"top"`
	// Children are the frames below it, each after its parent.
	Children []FrameNode `json:"children"`
	// Truncated says that there are more: at most [MaxTreeEntries] frames are listed, and
	// out-of-process frames [MaxOOPIFDepth] levels deep. ?full=true lists all.
	Truncated bool `json:"truncated"`
}

// FrameTop is the main frame of a page.
type FrameTop struct {
	// FrameID is CDP's id of the frame.
	FrameID FrameID `json:"frame_id"`
	// URL is the address of the frame.
	URL string `json:"url"`
	// Origin is the security origin of the frame.
	Origin string `json:"origin"`
}

// FrameNode is a frame below the main frame.
type FrameNode struct {
	// FrameID is CDP's id of the frame.
	FrameID FrameID `json:"frame_id"`
	// ParentFrameID is the frame that holds it.
	ParentFrameID FrameID `json:"parent_frame_id"`
	// URL is the address of the frame.
	URL string `json:"url"`
	// Origin is the security origin of the frame.
	Origin string `json:"origin"`
	// IsOOPIF says that the frame has a process, and so a CDP session, of its own.
	IsOOPIF bool `json:"is_oopif"`
	// SessionID is that session.
	SessionID SessionID `json:"session_id,omitempty"`
}

// The caps of a snapshot's frame tree (requirements F2, F3) and of its rings
// (D14, F14).
const (
	MaxTreeEntries   = 30
	MaxOOPIFDepth    = 2
	MaxRecentDialogs = 20
	MaxConsoleErrors = 50
)

// ConsoleError is an error or an uncaught exception that a page reported.
type ConsoleError struct {
	// TS is when it was reported.
	TS Seconds `json:"ts"`
	// Level is exception for an uncaught exception, else error.
	Level ConsoleLevel `json:"level"`
	// Text is the message, cut to 2000 bytes. It comes from the page: do not trust it.
	Text string `json:"text"`
	// URL is the script or document that it comes from.
	URL string `json:"url"`
}

// Seconds is a moment in Unix seconds, with a fraction.
type Seconds float64

// Time is the reverse of [SecondsOf].
func (s Seconds) Time() time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.UnixMicro(int64(float64(s) * 1e6))
}

// SecondsOf converts t, with microseconds. The zero time is 0.
func SecondsOf(t time.Time) Seconds {
	if t.IsZero() {
		return 0
	}
	return Seconds(float64(t.UnixMicro()) / 1e6)
}
