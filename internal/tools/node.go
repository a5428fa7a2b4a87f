package tools

import (
	"context"
	"time"

	"holdfast/messages"
)

// Node is what tools need of a node. Every method may be called from many goroutines at once;
// errors are [messages.Error]s.
type Node interface {
	// GetOrStart returns the running task, or starts it and waits until it is attached.
	GetOrStart(ctx context.Context, id messages.TaskID, spec messages.TaskSpec) (snap *messages.Snapshot, started bool, err error)
	// Tasks returns the snapshot of every task, from memory.
	Tasks() []*messages.Snapshot
	// Snapshot returns a task's state from memory: it never waits.
	Snapshot(id messages.TaskID, o messages.SnapshotOptions) (*messages.Snapshot, error)
	// Respond answers a dialog and waits until it is closed.
	Respond(ctx context.Context, id messages.TaskID, a messages.DialogAnswer) (messages.ClosedDialog, error)
	// AnswerBlocker ends a blocker; a page that waits for it continues.
	AnswerBlocker(ctx context.Context, id messages.TaskID, a messages.BlockerAnswer) (messages.ClosedBlocker, error)
	// AskHuman shows people a question of an agent's for a time.
	AskHuman(ctx context.Context, id messages.TaskID, reason string, within time.Duration) (messages.Blocker, error)
	// Navigate waits until the page is where the request wants it, or a dialog opens.
	Navigate(ctx context.Context, id messages.TaskID, r messages.NavigateRequest) (messages.NavigateResult, error)
	// CDP runs one raw command on the task's own connection.
	CDP(ctx context.Context, id messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error)
	// Recover gets a page back that does not answer.
	Recover(ctx context.Context, id messages.TaskID, r messages.RecoverRequest) (messages.RecoverResult, error)
	// StopTask ends a task and waits until its browser is released.
	StopTask(ctx context.Context, id messages.TaskID) error
	// Watch streams a task's state changes from now on, an [messages.EventReset] first.
	Watch(ctx context.Context, id messages.TaskID, after uint64, resume bool) (messages.EventStream, error)
}

// Caller is who calls a tool, and through which door.
type Caller struct {
	// Allows says whether the caller may use the task; nil allows each.
	Allows func(messages.TaskID) bool
	// CanStart has a task started that does not run, instead of task_not_found.
	CanStart bool
}

func (c Caller) allows(id messages.TaskID) bool { return c.Allows == nil || c.Allows(id) }
