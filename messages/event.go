package messages

import (
	"context"
	"time"
)

// EventType names a state change of a task.
type EventType string

// The state changes a watcher sees.
const (
	EventTaskState    EventType = "task_state"
	EventConnection   EventType = "connection"
	EventPageOpened   EventType = "page_opened"
	EventPageChanged  EventType = "page_changed"
	EventPageClosed   EventType = "page_closed"
	EventPageRecovery EventType = "page_recovery"
	EventDialogOpened EventType = "dialog_opened"
	EventDialogClosed EventType = "dialog_closed"
	EventFrames       EventType = "frames_changed"
	EventConsoleError EventType = "console_error"
	EventReset        EventType = "reset"

	EventBlockerOpened EventType = "blocker_opened"
	EventBlockerClosed EventType = "blocker_closed"
)

// ReasonReconnected marks the connection event with which a primary link that
// was lost stands again.
const ReasonReconnected = "reconnected"

// ReasonSessionFailed marks the end of a dialog that was lost by a fault of the node itself: the
// actor of its page's session failed, and no second link covered the page.
const ReasonSessionFailed = "session_failed"

// Reconnect is an attempt to bring a lost primary link back: OK when it stands
// again, with the cause of its loss; else with what failed, the dial or the attach.
type Reconnect struct {
	OK    bool
	Cause ReconnectCause
}

// ReconnectCause says why a primary link was lost, or was not to be had.
type ReconnectCause string

// The causes.
const (
	CauseClosed   ReconnectCause = "closed"    // ended, by whomever
	CauseHalfOpen ReconnectCause = "half_open" // the keepalive went unanswered
	CauseFlood    ReconnectCause = "flood"     // given up: the browser said more than could be heard
	CauseDial     ReconnectCause = "dial"
	CauseAttach   ReconnectCause = "attach"
)

// Event is one state change of a task. Only the fields that fit its type are set.
type Event struct {
	// Type names the change.
	Type EventType `json:"type"`
	// TaskID is the id of the task.
	TaskID TaskID `json:"task_id"`
	// Version is that of the first snapshot with the change; several events may share one.
	Version uint64 `json:"version"`
	// At is when the change was published. Of a reset it is when the reset was made.
	At Seconds `json:"at"`
	// State is the new state of the task.
	State TaskState `json:"state,omitempty"`
	// Reason is why the task or the connection changed, or a dialog was lost, where there is
	// more to say.
	Reason  string      `json:"reason,omitempty"`
	Outcome TaskOutcome `json:"-"` // for metrics, with the last state
	// Connection is the state of both connections.
	Connection *Connection `json:"connection,omitempty"`
	Reconnect  *Reconnect  `json:"-"` // for metrics, with a connection
	// Page is the page that the event is about.
	Page *Page `json:"page,omitempty"`
	// Changed names the fields of the page that changed; absent where none of them did, but
	// the node reaches the page by another way.
	Changed PageChange `json:"changed,omitzero"`
	// Was is the page_state before, where that changed.
	Was PageState `json:"was,omitempty"`
	// Lasted is how long the page was in the state that it leaves, or was closed in.
	Lasted time.Duration `json:"-"`
	// Recovery is what came of a recovery of the page.
	Recovery *Recovery `json:"recovery,omitempty"`
	// Dialog is the dialog that opened.
	Dialog  *Dialog `json:"dialog,omitempty"`
	InOOPIF bool    `json:"-"` // an out-of-process iframe asks; for metrics
	// Closed is the dialog that closed.
	Closed *ClosedDialog `json:"closed_dialog,omitempty"`
	// Blocker is what a page asks for, or what keeps it from being shown.
	Blocker *Blocker `json:"blocker,omitempty"`
	// ClosedBlocker is a blocker that has ended.
	ClosedBlocker *ClosedBlocker `json:"closed_blocker,omitempty"`
	// FrameTree holds the frames of the page.
	FrameTree *FrameTree `json:"frame_tree,omitempty"`
	// Console is the error that a page reported.
	Console *ConsoleError `json:"console_error,omitempty"`
	// Snapshot is the whole state of the task.
	Snapshot *Snapshot `json:"snapshot,omitempty"`
}

// EventStream is one watcher's view of a task. Next and Close may be called
// from different goroutines; Next is for one goroutine at a time.
type EventStream interface {
	// Next waits for at least one event and returns all there are, oldest
	// first; the events of one version are never split over two batches. A
	// watcher that falls too far behind gets an [EventReset]. When ctx ends
	// first, its error is returned, nothing is lost and Next may be called
	// again. After the last event of a task that ended it returns io.EOF.
	Next(ctx context.Context) ([]Event, error)
	// Close releases the stream; a waiting Next returns io.EOF. It may be
	// called more than once.
	Close()
}
