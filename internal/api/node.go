package api

import (
	"context"
	"time"

	"holdfast/messages"
)

// Node is what the HTTP layer needs of a node: its Go API. Every method may
// be called from many goroutines at once. Errors are [messages.Error]s; any
// other is shown to callers as internal.
type Node interface {
	// GetOrStart returns the running task of that id, rebound where the spec
	// names another browser, or starts it and waits until it is attached. Who
	// goes away before, which ctx tells, gives up its turn in the queue.
	GetOrStart(ctx context.Context, id messages.TaskID, spec messages.TaskSpec) (snap *messages.Snapshot, started bool, err error)
	// Tasks returns every task's snapshot, from memory.
	Tasks() []*messages.Snapshot
	// Tree returns the supervision tree as it is now. It never waits.
	Tree(o messages.TreeOptions) messages.Tree
	// Changes returns a task's state changes after the version, or one
	// [messages.EventReset] where they are gone. It never waits, and unlike a
	// Watch it does not hold the task's lease.
	Changes(id messages.TaskID, after uint64) ([]messages.Event, error)
	// Snapshot returns a task's state from memory: it never waits.
	Snapshot(id messages.TaskID, o messages.SnapshotOptions) (*messages.Snapshot, error)
	// Respond answers a dialog and waits until it is closed.
	Respond(ctx context.Context, id messages.TaskID, a messages.DialogAnswer) (messages.ClosedDialog, error)
	// AnswerBlocker ends a blocker; a page that waits for it continues.
	AnswerBlocker(ctx context.Context, id messages.TaskID, a messages.BlockerAnswer) (messages.ClosedBlocker, error)
	// AskHuman shows people a question of an agent's for a time.
	AskHuman(ctx context.Context, id messages.TaskID, reason string, within time.Duration) (messages.Blocker, error)
	// Navigate waits until the page is where the request wants it, or until a
	// dialog opens.
	Navigate(ctx context.Context, id messages.TaskID, r messages.NavigateRequest) (messages.NavigateResult, error)
	// CDP runs one raw command on the task's own connection.
	CDP(ctx context.Context, id messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error)
	// Recover gets a page back that does not answer, and waits until it has had
	// its effect.
	Recover(ctx context.Context, id messages.TaskID, r messages.RecoverRequest) (messages.RecoverResult, error)
	// Kill breaks links of a task as a killed socket does, where the node
	// allows that.
	Kill(ctx context.Context, id messages.TaskID, which messages.Links) (messages.KillResult, error)
	// Watch streams a task's state changes: with resume those after the
	// version, or an [messages.EventReset] first where they are gone; without
	// it an EventReset first.
	Watch(ctx context.Context, id messages.TaskID, after uint64, resume bool) (messages.EventStream, error)
	// Restart starts a task that has ended with the spec it had; one that runs is
	// left as it is.
	Restart(ctx context.Context, id messages.TaskID) (snap *messages.Snapshot, started bool, err error)
	// Renew puts off the task's idle timeout (X7). It never waits.
	Renew(id messages.TaskID) error
	// StopTask ends a task and waits until its browser is released.
	StopTask(ctx context.Context, id messages.TaskID) error
	// Alive waits for a sign of life of the node's own actors.
	Alive(ctx context.Context) error
	// Checks are the parts of the node's readiness besides that; those that are
	// not advisory decide. It never waits.
	Checks() []messages.Check
	// Pressure says how close the node is to its limits. It never waits.
	Pressure() messages.Pressure
}
