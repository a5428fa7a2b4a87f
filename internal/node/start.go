package node

import (
	"context"
	"maps"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// GetOrStart returns the running task of that id, or starts it and waits until
// it has attached; started tells which. A running task takes over what the
// spec says newly; where the spec names another browser, or other pages of it,
// the task is rebound: stopped, and started with nothing of its state kept.
// A task that never attached is gone again, and the error says why.
//
// A node that is at one of its limits has the start wait for a place, as long as
// the spec's QueueTimeoutS and the node's limits allow; a caller whose ctx ends
// meanwhile gives up its turn. Who is refused gets [messages.CodeLimitReached],
// with the detail retry_after_s.
func (n *Node) GetOrStart(ctx context.Context, id messages.TaskID, spec messages.TaskSpec) (*messages.Snapshot, bool, error) {
	if _, err := messages.ParseTaskID(string(id)); err != nil {
		return nil, false, err
	}
	if n.traces == nil {
		return n.getOrStart(ctx, id, spec)
	}
	ctx, end := n.traces.StartTask(ctx, id)
	snap, started, err := n.getOrStart(ctx, id, spec)
	end(err)
	return snap, started, err
}

// Restart starts a task that has ended with the spec it had. A task that runs is
// left as it is. It fails with task_not_found for an id that the node does not
// know any more, and else as [Node.GetOrStart].
func (n *Node) Restart(ctx context.Context, id messages.TaskID) (*messages.Snapshot, bool, error) {
	b := n.directory.Board(id)
	if b == nil {
		return nil, false, notFound(id)
	}
	if s := b.View().Snapshot; s.Active {
		return s, false, nil
	}
	return n.GetOrStart(ctx, id, b.Spec())
}

// CheckStart returns the error with which a start with that spec is refused whatever runs on the
// node.
//
// Codes: invalid_argument, forbidden.
func (n *Node) CheckStart(ctx context.Context, spec messages.TaskSpec) error {
	spec = spec.Normalized()
	if err := spec.Validate(); err != nil {
		return err
	}
	return n.checkStart(ctx, spec)
}

func (n *Node) getOrStart(ctx context.Context, id messages.TaskID, spec messages.TaskSpec) (*messages.Snapshot, bool, error) {
	spec = spec.Normalized()
	if err := spec.Validate(); err != nil {
		return nil, false, err
	}
	if n.stopping.Load() {
		return nil, false, messages.Errorf(messages.CodeUpstreamUnavailable, "the node is stopping")
	}
	spec.IsRestricted, spec.NodeRules = messages.CallerOf(ctx).IsScoped, n.cfg.DialogRules
	if err := n.checkStart(ctx, spec); err != nil {
		return nil, false, err
	}
	if spec.Scope == messages.ScopeTarget && n.owners.IsElsewhere(spec.TargetID, id) {
		return nil, false, messages.Errorf(messages.CodeTargetForeign, "target %s is another task's", spec.TargetID)
	}
	n.restrict(ctx, id)
	if b := n.directory.Board(id); b != nil {
		defer b.Use()()
	}
	spec.Labels = maps.Clone(spec.Labels) // snapshots will share it
	v, err := n.askToStart(ctx, mail.StartTask{ID: id, Spec: spec, Caller: messages.CallerOf(ctx), Ticket: n.tickets.Add(1)})
	if err != nil {
		return nil, false, err
	}
	b := n.directory.Board(id)
	if b == nil {
		return nil, false, notFound(id)
	}
	b.Touch(time.Now())
	return b.View().Snapshot, v.(mail.StartOutcome).HasStarted, nil
}

// askToStart gives the start the time that it may wait for a place, and from
// then on what a start may take.
func (n *Node) askToStart(ctx context.Context, o mail.StartTask) (any, error) {
	// The registry ends the wait in time; this is for one that does not come to it.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	budget := time.AfterFunc(messages.MaxQueueTimeout+startBudget, cancel)
	defer budget.Stop()
	o.Admitted = n.sys.Calls().Open(func(any, error) {
		if ctx.Err() == nil { // else the caller has gone
			budget.Reset(startBudget)
		}
	})
	defer n.sys.Calls().Close(o.Admitted)
	v, err := n.ask(ctx, nil, func(r mail.Call) {
		o.Reply = r
		n.sys.Send(n.registry.PID(), o)
	})
	if ctx.Err() != nil {
		n.sys.Send(n.registry.PID(), mail.AbandonStart{ID: o.ID, Ticket: o.Ticket})
	}
	return v, err
}
