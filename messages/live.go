package messages

// TaskSummary is a task in short: what a list of many shows of each.
type TaskSummary struct {
	TaskID     TaskID            `json:"task_id"`
	State      TaskState         `json:"state"`
	Version    uint64            `json:"version"`
	Active     bool              `json:"active"`
	Reason     string            `json:"reason,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Connection Connection        `json:"connection"`
	// URL, Title and PageState are the current page's.
	URL       string    `json:"url,omitempty"`
	Title     string    `json:"title,omitempty"`
	PageState PageState `json:"page_state,omitempty"`
	// Pages is how many there are, Unwell how many of them neither answer nor
	// wait for an answer.
	Pages          int      `json:"pages"`
	Unwell         int      `json:"unwell"`
	PendingDialogs []Dialog `json:"pending_dialogs,omitempty"`
	// ClosedDialogs are the newest [MaxSummaryClosed], the newest last.
	ClosedDialogs []DialogOutcome `json:"closed_dialogs,omitempty"`
}

// MaxSummaryClosed is how many outcomes of dialogs a summary holds.
const MaxSummaryClosed = 3

// DialogOutcome is how a dialog ended, without what it said.
type DialogOutcome struct {
	ID       DialogID `json:"id"`
	ClosedBy ClosedBy `json:"closed_by"`
	Action   string   `json:"action,omitempty"`
}

// Summary is the snapshot in short.
func (s *Snapshot) Summary() TaskSummary {
	out := TaskSummary{
		TaskID: s.TaskID, State: s.State, Version: s.Version, Active: s.Active, Reason: s.Reason, Labels: s.Labels,
		Connection: s.Connection, PageState: s.PageState, Pages: len(s.Pages), PendingDialogs: s.PendingDialogs,
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
	At        Seconds `json:"at"`
	Version   string  `json:"version,omitempty"`
	StartedAt Seconds `json:"started_at"`
	// Ready says that new tasks are taken; Checks are those that are not well.
	Ready  bool    `json:"ready"`
	Checks []Check `json:"checks,omitempty"`
	// Pressure is without bytes, and shares are whole hundredths.
	Pressure Pressure `json:"pressure"`
	// Scope is what the token is good for.
	Scope string `json:"scope"`
}

// LiveTasks are the tasks that have changed; All says that they are all there
// are, and that whatever else was known is gone.
type LiveTasks struct {
	At    Seconds       `json:"at"`
	All   bool          `json:"all,omitempty"`
	Tasks []TaskSummary `json:"tasks"`
	Gone  []TaskID      `json:"gone,omitempty"`
}

// LiveTask is the task that is being followed. Snapshot is absent when there is
// no such task any more.
type LiveTask struct {
	At       Seconds   `json:"at"`
	TaskID   TaskID    `json:"task_id"`
	Snapshot *Snapshot `json:"snapshot,omitempty"`
	Events   []Event   `json:"events,omitempty"`
}
