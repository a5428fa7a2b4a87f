package apitest

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"holdfast/messages"
)

// Node is an api.Node of which each test says only what it needs. What is not
// said answers with a plain success.
type Node struct {
	GetOrStartFunc func(context.Context, messages.TaskID, messages.TaskSpec) (*messages.Snapshot, bool, error)
	List           []*messages.Snapshot
	SnapshotFunc   func(messages.TaskID, messages.SnapshotOptions) (*messages.Snapshot, error)
	RespondFunc    func(messages.DialogAnswer) (messages.ClosedDialog, error)
	NavigateFunc   func(messages.NavigateRequest) (messages.NavigateResult, error)
	CDPFunc        func(messages.CDPRequest) (messages.CDPResult, error)
	RecoverFunc    func(messages.RecoverRequest) (messages.RecoverResult, error)
	KillFunc       func(messages.Links) (messages.KillResult, error)
	WatchFunc      func(ctx context.Context, after uint64, resume bool) (messages.EventStream, error)
	StopFunc       func(messages.TaskID) error
	RenewFunc      func(messages.TaskID) error
	AliveFunc      func(context.Context) error
	CheckList      []messages.Check
	Load           messages.Pressure
	TreeFunc       func(messages.TreeOptions) messages.Tree
	ChangesFunc    func(id messages.TaskID, after uint64) ([]messages.Event, error)
	ListFunc       func() []*messages.Snapshot // instead of List

	mu      sync.Mutex
	renewed []messages.TaskID
}

// Active is the snapshot of a task that is well.
func Active(id messages.TaskID) *messages.Snapshot {
	return &messages.Snapshot{TaskID: id, State: messages.StateActive, Version: 7, Active: true}
}

// GetOrStart implements api.Node.
func (n *Node) GetOrStart(ctx context.Context, id messages.TaskID, s messages.TaskSpec) (*messages.Snapshot, bool, error) {
	if n.GetOrStartFunc != nil {
		return n.GetOrStartFunc(ctx, id, s)
	}
	return Active(id), true, nil
}

// Restart implements api.Node.
func (n *Node) Restart(ctx context.Context, id messages.TaskID) (*messages.Snapshot, bool, error) {
	return n.GetOrStart(ctx, id, messages.TaskSpec{})
}

// Tasks implements api.Node.
func (n *Node) Tasks() []*messages.Snapshot {
	if n.ListFunc != nil {
		return n.ListFunc()
	}
	return n.List
}

// Tree implements api.Node.
func (n *Node) Tree(o messages.TreeOptions) messages.Tree {
	if n.TreeFunc != nil {
		return n.TreeFunc(o)
	}
	return messages.Tree{Root: messages.TreeNode{Kind: "registry", Key: "node", Generation: 2, State: messages.ActorRunning}}
}

// Changes implements api.Node.
func (n *Node) Changes(id messages.TaskID, after uint64) ([]messages.Event, error) {
	if n.ChangesFunc != nil {
		return n.ChangesFunc(id, after)
	}
	return nil, nil
}

// Snapshot implements api.Node.
func (n *Node) Snapshot(id messages.TaskID, o messages.SnapshotOptions) (*messages.Snapshot, error) {
	if n.SnapshotFunc != nil {
		return n.SnapshotFunc(id, o)
	}
	return Active(id), nil
}

// AnswerBlocker implements api.Node.
func (n *Node) AnswerBlocker(_ context.Context, _ messages.TaskID, a messages.BlockerAnswer) (messages.ClosedBlocker, error) {
	return messages.ClosedBlocker{ID: a.BlockerID, Action: a.Action, ClosedBy: messages.ClosedByAgent}, nil
}

// AskHuman implements api.Node.
func (n *Node) AskHuman(_ context.Context, _ messages.TaskID, reason string, _ time.Duration) (messages.Blocker, error) {
	return messages.Blocker{ID: "b-1", Type: messages.BlockerHuman, Message: reason}, nil
}

// Respond implements api.Node.
func (n *Node) Respond(_ context.Context, _ messages.TaskID, a messages.DialogAnswer) (messages.ClosedDialog, error) {
	if n.RespondFunc != nil {
		return n.RespondFunc(a)
	}
	return messages.ClosedDialog{ID: "d-1", ClosedBy: messages.ClosedByAgent}, nil
}

// Navigate implements api.Node.
func (n *Node) Navigate(_ context.Context, _ messages.TaskID, r messages.NavigateRequest) (messages.NavigateResult, error) {
	if n.NavigateFunc != nil {
		return n.NavigateFunc(r)
	}
	return messages.NavigateResult{URL: r.URL}, nil
}

// CDP implements api.Node.
func (n *Node) CDP(_ context.Context, _ messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error) {
	if n.CDPFunc != nil {
		return n.CDPFunc(r)
	}
	return messages.CDPResult{Result: json.RawMessage(`{"a":"<b>"}`)}, nil
}

// Kill implements api.Node.
func (n *Node) Kill(_ context.Context, _ messages.TaskID, which messages.Links) (messages.KillResult, error) {
	if n.KillFunc != nil {
		return n.KillFunc(which)
	}
	return messages.KillResult{Killed: []messages.Links{which}}, nil
}

// Recover implements api.Node.
func (n *Node) Recover(_ context.Context, _ messages.TaskID, r messages.RecoverRequest) (messages.RecoverResult, error) {
	if n.RecoverFunc != nil {
		return n.RecoverFunc(r)
	}
	return messages.RecoverResult{Page: messages.Page{TargetID: r.TargetID, PageState: messages.PageOK}}, nil
}

// Watch implements api.Node.
func (n *Node) Watch(ctx context.Context, _ messages.TaskID, after uint64, resume bool) (messages.EventStream, error) {
	if n.WatchFunc != nil {
		return n.WatchFunc(ctx, after, resume)
	}
	return &Stream{}, nil
}

// Renew implements api.Node; it remembers the task.
func (n *Node) Renew(id messages.TaskID) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.renewed = append(n.renewed, id)
	if n.RenewFunc != nil {
		return n.RenewFunc(id)
	}
	return nil
}

// StopTask implements api.Node.
func (n *Node) StopTask(_ context.Context, id messages.TaskID) error {
	if n.StopFunc != nil {
		return n.StopFunc(id)
	}
	return nil
}

// Alive implements api.Node.
func (n *Node) Alive(ctx context.Context) error {
	if n.AliveFunc != nil {
		return n.AliveFunc(ctx)
	}
	return nil
}

// Checks implements api.Node.
func (n *Node) Checks() []messages.Check { return n.CheckList }

// Pressure implements api.Node.
func (n *Node) Pressure() messages.Pressure { return n.Load }

// Renewals lists the tasks whose lease was renewed, in order.
func (n *Node) Renewals() []messages.TaskID {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]messages.TaskID(nil), n.renewed...)
}

// Stream is a messages.EventStream that gives its batches one by one, then waits (Block) or ends.
type Stream struct {
	Batches    [][]messages.Event
	IsBlocking bool
	Closed     chan struct{}
}

// Next implements messages.EventStream.
func (s *Stream) Next(ctx context.Context) ([]messages.Event, error) {
	if len(s.Batches) > 0 {
		b := s.Batches[0]
		s.Batches = s.Batches[1:]
		return b, nil
	}
	if s.IsBlocking {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, io.EOF
}

// Close implements messages.EventStream.
func (s *Stream) Close() {
	if s.Closed != nil {
		close(s.Closed)
	}
}
