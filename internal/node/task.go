package node

import (
	"time"

	"holdfast/actors/supervisor/view"
	"holdfast/messages"
)

// Tasks returns the tasks that run or were lost, by id. It never waits.
func (n *Node) Tasks() []*messages.Snapshot { return n.directory.List() }

// Renew puts off the task's idle timeout. It never waits.
func (n *Node) Renew(id messages.TaskID) error {
	b := n.directory.Board(id)
	if b == nil {
		return notFound(id)
	}
	b.Touch(time.Now())
	return nil
}

// living returns the board and the newest view of a task that is supervised.
func (n *Node) living(id messages.TaskID) (*view.Board, *view.View, error) {
	b := n.directory.Board(id)
	if b == nil {
		return nil, nil, notFound(id)
	}
	v := b.View()
	switch {
	case v.Snapshot.State == messages.StateLost:
		return nil, nil, messages.Errorf(messages.CodeUpstreamUnavailable, "task %s was lost (%s); %s", id, v.Snapshot.Reason, startHint(id)).
			With("state", v.Snapshot.State).WithSent(messages.SentNo).Final().With("task_id", id).WithHint(startHint(id))
	case !v.Snapshot.Active && n.stopping.Load():
		return nil, nil, messages.Errorf(messages.CodeUpstreamUnavailable, "the node is stopping").WithSent(messages.SentNo)
	case !v.Snapshot.Active:
		return nil, nil, messages.Errorf(messages.CodeTaskNotFound, "task %s has stopped; %s", id, startHint(id)).With("task_id", id).WithHint(startHint(id))
	case v.Supervisor == nil:
		return nil, nil, messages.Errorf(messages.CodeUpstreamUnavailable, "task %s is starting", id).WithSent(messages.SentNo)
	}
	return b, v, nil
}

func notFound(id messages.TaskID) error {
	return messages.Errorf(messages.CodeTaskNotFound, "there is no task %s; %s", id, startHint(id)).With("task_id", id).WithHint(startHint(id))
}

// startHint says how a task that does not run is started.
func startHint(id messages.TaskID) string { return "PUT /v1/tasks/" + string(id) + " starts it" }
