package messages

import "time"

// TaskState is where a task stands in its life.
type TaskState string

// The states of the contract.
const (
	StateStarting   TaskState = "starting"
	StateActive     TaskState = "active"
	StateRecovering TaskState = "recovering"
	StateWedged     TaskState = "wedged"
	StateLost       TaskState = "lost"
	StateStopped    TaskState = "stopped"
)

// TaskStates lists every state, in its order.
func TaskStates() []TaskState {
	return []TaskState{StateStarting, StateActive, StateRecovering, StateWedged, StateLost, StateStopped}
}

// Active says whether the task is supervised: neither lost nor stopped.
func (s TaskState) Active() bool { return s != StateLost && s != StateStopped }

// PageState is what is known of a page's ability to answer.
type PageState string

// The page states of the contract.
const (
	PageOK                PageState = "ok"
	PageDialog            PageState = "dialog"
	PageDialogUnreachable PageState = "dialog_unreachable"
	PageCrashed           PageState = "crashed"
	PageHung              PageState = "hung"
	PagePaused            PageState = "paused"
	// PageBlockedElsewhere is a page whose renderer waits for a dialog that is not the
	// task's: of another task, or of another client (C59). It comes back by itself.
	PageBlockedElsewhere PageState = "blocked_elsewhere"
)

// LinkState is the state of one upstream connection.
type LinkState string

// The link states of the contract.
const (
	LinkUp      LinkState = "up"
	LinkDialing LinkState = "dialing"
	LinkBackoff LinkState = "backoff"
	LinkDown    LinkState = "down"
)

// The browser contexts a task's pages can be in.
const (
	InContext = "context" // its own
	InShared  = "shared"  // the browser's default one
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
	ClosedByAgent      ClosedBy = "agent"
	ClosedByAutoPolicy ClosedBy = "auto_policy"
	ClosedByWatchdog   ClosedBy = "watchdog"
	ClosedByRemote     ClosedBy = "remote"
	ClosedByLost       ClosedBy = "lost"
)

// The paths of a dialog, and what is known of a page's or a task's bridge.
const (
	PathNative        = "native"
	PathBridge        = "bridge"
	BridgeNative      = "native"      // dialogs are Chrome's own
	BridgeUnavailable = "unavailable" // the bridge is wanted, and cannot work there
)

// Snapshot is a task's state at one version: the contract's JSON. It is
// immutable; everything it points at is shared and must not be written.
//
// Without a supervisor the dialog and frame fields are absent, not empty
// (requirement D27), hence the omitzero slices: an empty non-nil slice is
// written as [].
type Snapshot struct {
	TaskID         TaskID         `json:"task_id"`
	State          TaskState      `json:"state"`
	Version        uint64         `json:"version"`
	Active         bool           `json:"active"`
	Reason         string         `json:"reason,omitempty"`
	Connection     Connection     `json:"connection"`
	PageTargetID   TargetID       `json:"page_target_id,omitempty"`
	PageState      PageState      `json:"page_state,omitempty"`
	Pages          []Page         `json:"pages,omitzero"`
	PendingDialogs []Dialog       `json:"pending_dialogs,omitzero"`
	RecentDialogs  []ClosedDialog `json:"recent_dialogs,omitzero"`
	FrameTree      *FrameTree     `json:"frame_tree,omitempty"`
	ConsoleErrors  []ConsoleError `json:"console_errors,omitzero"`
	// Labels are those of the task's spec.
	Labels map[string]string `json:"labels,omitempty"`
	// LastPage is where the current page of a task was that has ended.
	LastPage *LastPage `json:"last_page,omitempty"`
}

// LastPage is what is left of a page once its task has ended.
type LastPage struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// Connection is the state of a task's links. Endpoint is redacted.
type Connection struct {
	Primary LinkState `json:"primary"`
	Anchor  LinkState `json:"anchor"`
	// AnchorOff is set where there is no anchor and none is being dialled.
	AnchorOff AnchorOff `json:"anchor_off,omitempty"`
	// Isolation is context where the pages are in a browser context of the task's own, shared
	// where they are in the browser's, and empty until that is known.
	Isolation string `json:"isolation,omitempty"`
	// IsolationOff is set where isolation is auto, the scope own, and there is no context.
	IsolationOff IsolationOff `json:"isolation_off,omitempty"`
	Reconnects   uint64       `json:"reconnects"`
	// BrowserRestarts counts the reconnects that found another browser behind
	// the same address: none of the pages from before was there.
	BrowserRestarts uint64 `json:"browser_restarts"`
	LastGapMS       int64  `json:"last_gap_ms"`
	// RecoveringSince is when the primary link was lost that is being dialled again;
	// Attempt counts its dials, the one under way among them. LastError is why the
	// link was lost, or why the last dial failed: at most 200 bytes, redacted, and in
	// part the browser's. The task is lost after GiveUpAfterS seconds and five failed
	// dials. All four are absent while the link is not missed.
	RecoveringSince Seconds `json:"recovering_since,omitempty"`
	Attempt         int     `json:"attempt,omitempty"`
	GiveUpAfterS    float64 `json:"give_up_after_s,omitempty"`
	LastError       string  `json:"last_error,omitempty"`
	// Bridge is on where dialogs are to come over the bridge, else native; what a
	// page has is said with it.
	Bridge string `json:"bridge"`
	// BridgeBy is how the bridge makes pages wait, where it is on: debugger, or request.
	BridgeBy string `json:"bridge_by,omitempty"`
	// WantedTruncated is set when agents have set more than is remembered: some
	// of it will not be there after a reconnect.
	WantedTruncated bool   `json:"wanted_truncated,omitempty"`
	Endpoint        string `json:"endpoint"`
}

// Page is one top-level target of the task.
type Page struct {
	TargetID  TargetID  `json:"target_id"`
	SessionID SessionID `json:"session_id"`
	URL       string    `json:"url"`
	Title     string    `json:"title"`
	OpenerID  *TargetID `json:"opener_id"`
	PageState PageState `json:"page_state"`
	// Bridge is native, on, or unavailable where the task's bridge cannot work.
	Bridge string `json:"bridge"`
	// Restoring are the raw CDP methods whose settings the browser has refused on the
	// page's new session so far. They are given again for a minute, and with its next
	// document (C61).
	Restoring []string `json:"restoring,omitempty"`
}

// Dialog is an open dialog. Message and DefaultPrompt come from the page:
// untrusted, and already redacted (requirement D28).
type Dialog struct {
	ID            DialogID  `json:"id"`
	Type          string    `json:"type"`
	Message       string    `json:"message"`
	DefaultPrompt string    `json:"default_prompt"`
	OpenedAt      Seconds   `json:"opened_at"`
	FrameID       FrameID   `json:"frame_id"`
	FrameURL      string    `json:"frame_url,omitempty"`
	TargetID      TargetID  `json:"target_id"`
	SessionID     SessionID `json:"session_id"`
	Path          string    `json:"path"`
	ExpiresAt     Seconds   `json:"expires_at"`
	// Heard is when the first link told of it.
	Heard time.Time `json:"-"`
	// Holds says of a bridged dialog that its page answers nothing while it waits.
	Holds bool `json:"-"`
}

// ClosedDialog is a dialog of the past.
type ClosedDialog struct {
	ID       DialogID `json:"id"`
	Type     string   `json:"type"`
	Message  string   `json:"message"`
	OpenedAt Seconds  `json:"opened_at"`
	ClosedAt Seconds  `json:"closed_at"`
	ClosedBy ClosedBy `json:"closed_by"`
	FrameID  FrameID  `json:"frame_id,omitempty"`
	TargetID TargetID `json:"target_id,omitempty"`
	// Action is accept or dismiss, where somebody on our side decided.
	Action string `json:"action,omitempty"`
	// Path is native or bridge.
	Path string `json:"path,omitempty"`
	// Promoted says that an answer went through the anchor because the primary
	// had no way to the dialog.
	Promoted bool `json:"-"`
}

// FrameTree is a page's frames, flat: the top one and its descendants, each
// after its parent.
type FrameTree struct {
	Top       FrameTop    `json:"top"`
	Children  []FrameNode `json:"children"`
	Truncated bool        `json:"truncated"`
}

// FrameTop is a page's main frame.
type FrameTop struct {
	FrameID FrameID `json:"frame_id"`
	URL     string  `json:"url"`
	Origin  string  `json:"origin"`
}

// FrameNode is a frame below the top.
type FrameNode struct {
	FrameID       FrameID   `json:"frame_id"`
	ParentFrameID FrameID   `json:"parent_frame_id"`
	URL           string    `json:"url"`
	Origin        string    `json:"origin"`
	IsOOPIF       bool      `json:"is_oopif"`
	SessionID     SessionID `json:"session_id,omitempty"`
}

// The caps of a snapshot's frame tree (requirements F2, F3) and of its rings
// (D14, F14).
const (
	MaxTreeEntries   = 30
	MaxOOPIFDepth    = 2
	MaxRecentDialogs = 20
	MaxConsoleErrors = 50
)

// ConsoleError is an error or an uncaught exception a page reported.
type ConsoleError struct {
	TS    Seconds `json:"ts"`
	Level string  `json:"level"`
	Text  string  `json:"text"`
	URL   string  `json:"url"`
}

// Seconds is a moment in Unix seconds, as the contract writes times.
type Seconds float64

// SecondsOf converts t, with microseconds. The zero time is 0.
func SecondsOf(t time.Time) Seconds {
	if t.IsZero() {
		return 0
	}
	return Seconds(float64(t.UnixMicro()) / 1e6)
}
