package messages

// TaskSummary is a task in short: what a list of many shows of each.
type TaskSummary struct {
	// TaskID is the id of the task.
	TaskID TaskID `json:"task_id"`
	// State is where the task stands in its life.
	State TaskState `json:"state"`
	// Version grows with every change of the task.
	Version uint64 `json:"version"`
	// Active is false once the task is lost or stopped.
	Active bool `json:"active"`
	// Reason is why the task is in its state, where there is more to say.
	Reason string `json:"reason,omitempty"`
	// Labels are those of the task's spec.
	Labels map[string]string `json:"labels,omitempty"`
	// Connection is the state of the two connections to the browser.
	Connection Connection `json:"connection"`
	// URL is the address of the current page.
	URL string `json:"url,omitempty"`
	// Title is the title of the current page.
	Title string `json:"title,omitempty"`
	// PageState is the state of the current page.
	PageState PageState `json:"page_state,omitempty"`
	// Pages is the number of pages.
	Pages int `json:"pages"`
	// Unwell is the number of pages that neither answer nor wait for an answer.
	Unwell int `json:"unwell"`
	// PendingDialogs are the open dialogs, the oldest first.
	PendingDialogs []Dialog `json:"pending_dialogs,omitempty"`
	// Blockers are what waits besides dialogs, the oldest first.
	Blockers []Blocker `json:"blockers,omitempty"`
	// ClosedDialogs are the newest closed dialogs, at most [MaxSummaryClosed], the oldest first.
	ClosedDialogs []DialogOutcome `json:"closed_dialogs,omitempty"`
}

// MaxSummaryClosed is how many outcomes of dialogs a summary holds.
const MaxSummaryClosed = 3

// DialogOutcome is how a dialog ended, without its text.
type DialogOutcome struct {
	// ID names the dialog within the task.
	ID DialogID `json:"id"`
	// ClosedBy is what closed it.
	ClosedBy ClosedBy `json:"closed_by"`
	// Action is the answer, where a caller, a policy or the watchdog gave it.
	Action Action `json:"action,omitempty"`
}

// Summary is the snapshot in short.
func (s *Snapshot) Summary() TaskSummary {
	out := TaskSummary{
		TaskID: s.TaskID, State: s.State, Version: s.Version, Active: s.Active, Reason: s.Reason, Labels: s.Labels,
		Connection: s.Connection, PageState: s.PageState, Pages: len(s.Pages), PendingDialogs: s.PendingDialogs, Blockers: s.Blockers,
	}
	for _, p := range s.Pages {
		if p.TargetID == s.PageTargetID {
			out.URL, out.Title = p.URL, p.Title
		}
		if p.PageState != PageOK && p.PageState != PageDialog {
			out.Unwell++
		}
	}
	for _, d := range s.RecentDialogs[max(0, len(s.RecentDialogs)-MaxSummaryClosed):] {
		out.ClosedDialogs = append(out.ClosedDialogs, DialogOutcome{ID: d.ID, ClosedBy: d.ClosedBy, Action: d.Action})
	}
	return out
}

// NodeStatus is what a node says of itself.
type NodeStatus struct {
	// At is when it was looked at.
	At Seconds `json:"at"`
	// Version is the version of the node's build.
	Version string `json:"version,omitempty"`
	// StartedAt is when the node started.
	StartedAt Seconds `json:"started_at"`
	// Ready says that the node takes new tasks.
	Ready bool `json:"ready"`
	// Checks are the parts of its health that failed.
	Checks []Check `json:"checks,omitempty"`
	// Pressure is how close the node is to its limits, without bytes, shares in whole hundredths.
	Pressure Pressure `json:"pressure"`
	// Scope is what the token covers: admin, a task or a tenant.
	Scope string `json:"scope"`
}

// LiveTasks are the tasks that have changed.
type LiveTasks struct {
	// At is when they were looked at.
	At Seconds `json:"at"`
	// All says that these are all tasks: drop any other.
	All bool `json:"all,omitempty"`
	// Tasks are the new and the changed tasks.
	Tasks []TaskSummary `json:"tasks"`
	// Gone are the tasks that are no longer there.
	Gone []TaskID `json:"gone,omitempty"`
}

// LiveClients is the CDP clients of the task that ?task_id= follows.
type LiveClients struct {
	// At is when they were looked at.
	At Seconds `json:"at"`
	// TaskID is the id of the task.
	TaskID TaskID `json:"task_id"`
	// ClientList is what the task's route for clients answers.
	ClientList
}

// LiveTask is the task that ?task_id= follows.
type LiveTask struct {
	// At is when it was looked at.
	At Seconds `json:"at"`
	// TaskID is the id of the task.
	TaskID TaskID `json:"task_id"`
	// Snapshot is its state; absent where there is no such task.
	Snapshot *Snapshot `json:"snapshot,omitempty"`
	// Events are its state changes since the last event of the stream.
	Events []Event `json:"events,omitempty"`
}
