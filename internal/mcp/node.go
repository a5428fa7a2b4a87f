package mcp

import (
	"context"
	"encoding/json"
	"io"
	"iter"

	"holdfast/client"
	"holdfast/messages"
)

// Node is what a server needs of a node: [client.Client] has it. Every method may be called from
// many goroutines at once.
type Node interface {
	// CallTool runs one tool on a task. The error is of a call that reached no tool.
	CallTool(ctx context.Context, id messages.TaskID, tool string, input json.RawMessage) (*messages.ToolResult, error)
	// Respond answers a dialog and waits until it is closed.
	Respond(ctx context.Context, id messages.TaskID, a messages.DialogAnswer) (messages.ClosedDialog, error)
	// AnswerBlocker ends a blocker; a page that waits for it continues.
	AnswerBlocker(ctx context.Context, id messages.TaskID, a messages.BlockerAnswer) (messages.ClosedBlocker, error)
	// GetOrStart returns the running task, or starts it and waits until it is attached.
	GetOrStart(ctx context.Context, id messages.TaskID, s messages.TaskSpec) (snap *messages.Snapshot, started bool, err error)
	// StopTask ends a task and waits until its browser is released.
	StopTask(ctx context.Context, id messages.TaskID) error
	// Tasks lists the tasks that the token covers.
	Tasks(ctx context.Context, labels map[string]string) ([]*messages.Snapshot, error)
	// Snapshot returns a task's state. It waits for no browser.
	Snapshot(ctx context.Context, id messages.TaskID, o messages.SnapshotOptions) (*messages.Snapshot, error)
	// Artifacts lists the files of a task, the oldest first.
	Artifacts(ctx context.Context, id messages.TaskID) (messages.ArtifactList, error)
	// ReadArtifact writes the bytes of a file to w, held to their hash, and returns how many.
	ReadArtifact(ctx context.Context, id messages.TaskID, artifact messages.ArtifactID, w io.Writer) (int64, error)
	// Watch yields a task's state changes until the task or ctx ends.
	Watch(ctx context.Context, id messages.TaskID, from client.Position) iter.Seq2[messages.Event, error]
}

var _ Node = (*client.Client)(nil)

// peer is one client of a server.
type peer struct {
	node Node
	own  *ownTask
	// request ends when the client can no longer be answered, or is not to be.
	request context.Context
}

type peerKey struct{}

func withPeer(ctx context.Context, p *peer) context.Context {
	return context.WithValue(ctx, peerKey{}, p)
}

// peerOf is the client that a request is of. Every request of a server has one.
func peerOf(ctx context.Context) *peer { return ctx.Value(peerKey{}).(*peer) }

// while is a context that ends with ctx, and when the client is gone.
func (p *peer) while(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(p.request, cancel)
	return ctx, func() {
		unhook()
		cancel()
	}
}
