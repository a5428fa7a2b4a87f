package node

import (
	"context"
	"errors"
	"sync"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// StopTask ends a task and waits until its browser is released. Without such a task it
// returns no error.
func (n *Node) StopTask(ctx context.Context, id messages.TaskID) error {
	if _, err := messages.ParseTaskID(string(id)); err != nil {
		return err
	}
	return n.stopTask(ctx, mail.StopTask{ID: id, Outcome: messages.OutcomeStopped})
}

func (n *Node) stopTask(ctx context.Context, o mail.StopTask) error {
	ctx, cancel := context.WithTimeout(ctx, stopBudget)
	defer cancel()
	_, err := n.ask(ctx, nil, func(r mail.Call) {
		o.Reply = r
		n.sys.Send(n.registry.PID(), o)
	})
	return err
}

// reasonStopping is what the last event of a task says that ends with its node.
const reasonStopping = "the node is stopping"

// Stop ends every task, every browser the node launched, and the node. It may
// be called more than once.
func (n *Node) Stop(ctx context.Context) error {
	n.stopping.Store(true)
	n.BeginDrain() // or the place of each task that ends would be given to the next
	var wg sync.WaitGroup
	for _, t := range n.directory.List() {
		if t.Active {
			stop := mail.StopTask{ID: t.TaskID, Reason: reasonStopping, Outcome: messages.OutcomeDrained}
			wg.Go(func() { _ = n.stopTask(ctx, stop) }) // what is left is ended below
		}
	}
	wg.Wait()
	_, err := n.registry.Stop(ctx)
	if r := n.cfg.Registerer; r != nil {
		r.Unregister(n.metrics.Collector())
	}
	err = errors.Join(err, n.browsers.Close(ctx), n.sys.Close(ctx))
	return errors.Join(err, n.egress.wait(ctx))
}

// Abort kills every browser the node launched, at once; ctx bounds the wait for
// their end alone. It is for a node whose process ends now, and may be called
// while Stop runs.
func (n *Node) Abort(ctx context.Context) error {
	n.stopping.Store(true)
	return n.browsers.Kill(ctx)
}
