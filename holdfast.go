// Package holdfast supervises browser tasks over the Chrome DevTools Protocol: every
// JavaScript dialog is seen and can be answered, every frame can be reached, and a lost
// connection comes back by itself.
//
// A [Node] is the whole of it in one process, and a [Task] is one piece of browser work:
//
//	node, err := holdfast.Start(ctx)
//	if err != nil { … }
//	defer node.Stop(context.Background())
//
//	task, err := node.Task(ctx, "checkout-7")
//	if err != nil { … }
//	_, err = task.Navigate(ctx, "https://example.com")
//	snap, err := task.Snapshot(ctx)
//	_, err = task.Answer(ctx, messages.ActionAccept)
//
// Package client has the same handle of a task over HTTP, and package holdfasttest a
// node on a fake browser for tests. The words of all three are those of package messages:
// options of tasks and calls, snapshots, events, and errors with a stable code.
//
// A node changes nothing of the process that it runs in: no setting of the garbage
// collector, no variable of the environment, no handler of a signal. What it reads of
// the environment is said with [Config].
package holdfast

import (
	"context"
	"net/http"

	"holdfast/internal/node"
	"holdfast/messages"
)

// Node supervises tasks. Its methods are safe for concurrent use.
type Node struct{ node *node.Node }

// Start starts a node. It first ends the browsers that an earlier node on the same
// state directory has left behind.
//
// The error says what of the [Config] is invalid, or why the state directory cannot be
// used. It is no [*Error].
func Start(ctx context.Context, opts ...Option) (*Node, error) {
	var c Config
	for _, o := range opts {
		o(&c)
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	n, err := node.Start(ctx, c.node())
	if err != nil {
		return nil, err
	}
	return &Node{n}, nil
}

// Task returns the running task of that id, or starts it and waits until it is attached.
// A running task takes over what the options say newly; where they name another
// browser, or other pages of it, the task is stopped and started anew.
//
// A node that is at one of its limits has the start wait for a place. A caller whose ctx
// ends meanwhile gives up its turn. A start takes at most 30 s after that.
//
// Codes: invalid_argument, forbidden, target_foreign, target_not_found, cdp_error,
// upstream_unavailable, limit_reached (the detail retry_after_s says when to try again),
// deadline, internal.
func (n *Node) Task(ctx context.Context, id messages.TaskID, opts ...messages.TaskOption) (*Task, error) {
	spec, err := messages.SpecOf(opts)
	if err != nil {
		return nil, err
	}
	if _, _, err := n.node.GetOrStart(ctx, id, spec); err != nil {
		return nil, err
	}
	return &Task{n.node, id}, nil
}

// Lookup returns the handle of a task that the node knows: one that runs, or one that was
// lost. It never waits.
//
// Codes: task_not_found.
func (n *Node) Lookup(id messages.TaskID) (*Task, error) {
	if _, err := n.node.Snapshot(id, messages.SnapshotOptions{}); err != nil {
		return nil, err
	}
	return &Task{n.node, id}, nil
}

// Tasks returns the newest snapshots of the tasks that run or were lost, by id. It never
// waits. The snapshots are shared and must not be written.
func (n *Node) Tasks() []*messages.Snapshot { return n.node.Tasks() }

// Ready says why no new task can be taken, or nil. It never waits.
//
// Codes: upstream_unavailable (the detail checks names what is missing), internal.
func (n *Node) Ready() error { return n.node.Ready() }

// Alive waits for a sign of life of the node's own actors. No browser and no page can
// delay it.
//
// Codes: upstream_unavailable, deadline (ctx has ended first).
func (n *Node) Alive(ctx context.Context) error { return n.node.Alive(ctx) }

// Pressure says how close the node is to its limits. It never waits.
func (n *Node) Pressure() messages.Pressure { return n.node.Pressure() }

// Tree returns the supervision tree as it is now. It never waits.
func (n *Node) Tree(o messages.TreeOptions) messages.Tree { return n.node.Tree(o) }

// SetLimits replaces all limits of the node. A zero field takes its default. What runs
// continues, and what waits and now has a place starts.
//
// Codes: invalid_argument, upstream_unavailable, deadline.
func (n *Node) SetLimits(l messages.Limits) error { return n.node.SetLimits(l) }

// Drain ends admission for good: a task that does not run is refused, and what runs
// continues. It never waits, and may be called more than once.
func (n *Node) Drain() { n.node.BeginDrain() }

// MetricsHandler serves the node's metrics and the process's in the Prometheus format.
// [WithRegisterer] puts the node's among those of the program instead.
func (n *Node) MetricsHandler() http.Handler { return n.node.MetricsHandler() }

// Stop ends every task, every browser that the node has launched, and the node. It may
// be called more than once. The error joins what could not be ended before ctx did.
func (n *Node) Stop(ctx context.Context) error { return n.node.Stop(ctx) }
