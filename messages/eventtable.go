package messages

// EventInfo says what an event of one type means to a caller.
type EventInfo struct {
	// Type is the event's type, and About what has happened.
	Type  EventType
	About string
	// Fields are set in every event of the type, and MayHave in some. type, task_id,
	// version and at are set in all.
	Fields, MayHave []string
}

var eventTable = []EventInfo{
	{EventTaskState, "the state of the task changed", []string{"state"}, []string{"reason"}},
	{EventConnection, "a connection to the browser changed", []string{"connection"}, []string{"reason"}},
	{EventPageOpened, "the task has a new page", []string{"page"}, nil},
	{EventPageChanged, "a page changed", []string{"page"}, []string{"changed", "was"}},
	{EventPageClosed, "a page is closed; page is its last state", []string{"page"}, nil},
	{EventPageRecovery, "a recovery of a page ended", []string{"page", "recovery"}, nil},
	{EventDialogOpened, "a dialog opened", []string{"dialog"}, nil},
	{EventDialogClosed, "a dialog closed", []string{"closed_dialog"}, nil},
	{EventBlockerOpened, "a page asks its browser for something, or is not shown", []string{"blocker"}, nil},
	{EventBlockerClosed, "a blocker ended", []string{"closed_blocker"}, nil},
	{EventFrames, "the frames of a page changed; of the current page with frame_tree", nil, []string{"frame_tree"}},
	{EventConsoleError, "a page reported an error", []string{"console_error"}, nil},
	{EventReset, "events that were missed are gone, and the snapshot has the whole state", []string{"snapshot"}, nil},
}

// EventTable says what each type of event means, in the contract's order. The result is
// shared: do not write to it.
func EventTable() []EventInfo { return eventTable }
