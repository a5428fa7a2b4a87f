package messages

// EventType names a state change of a task.
type EventType string

// The state changes a watcher sees.
const (
	EventTaskState    EventType = "task_state"
	EventConnection   EventType = "connection"
	EventPageOpened   EventType = "page_opened"
	EventPageChanged  EventType = "page_changed" // url, title or page_state
	EventPageClosed   EventType = "page_closed"
	EventDialogOpened EventType = "dialog_opened"
	EventDialogClosed EventType = "dialog_closed"
	EventFrames       EventType = "frames_changed"
	EventConsoleError EventType = "console_error"
	EventReset        EventType = "reset" // what was missed is gone: Snapshot holds all
)

// Event is one state change. Version is that of the snapshot in which it
// first shows; several events may share one. Only the field that fits the
// type is set.
type Event struct {
	Type       EventType     `json:"type"`
	TaskID     TaskID        `json:"task_id"`
	Version    uint64        `json:"version"`
	State      TaskState     `json:"state,omitempty"`
	Reason     string        `json:"reason,omitempty"`
	Connection *Connection   `json:"connection,omitempty"`
	Page       *Page         `json:"page,omitempty"`
	Dialog     *Dialog       `json:"dialog,omitempty"`
	Closed     *ClosedDialog `json:"closed_dialog,omitempty"`
	FrameTree  *FrameTree    `json:"frame_tree,omitempty"`
	Console    *ConsoleError `json:"console_error,omitempty"`
	Snapshot   *Snapshot     `json:"snapshot,omitempty"`
}
