package cluster

import (
	"context"
	"time"

	"holdfast/messages"
)

const (
	// awaitTime is how long a request is held for a task between two nodes. A node is given up
	// after 2.2 s, and its tasks are taken within a second.
	awaitTime = 10 * time.Second
	// awaitTick is how often it is looked whether a task that has been taken runs.
	awaitTick = 20 * time.Millisecond
)

// awaitEpoch waits until this node knows of an epoch of a task.
func (c *Cluster) awaitEpoch(ctx context.Context, id messages.TaskID, epoch uint64) {
	late := time.NewTimer(hearsayTime)
	defer late.Stop()
	for {
		changed := c.member.Changed()
		if _, known, _ := c.Place(id); known >= epoch {
			return
		}
		select {
		case <-changed:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Await waits until a task is no longer between two nodes, for the context and at most ten
// seconds. Not is a node that has not answered for the task under an epoch, "" for none: another
// epoch is waited for too.
//
// Codes: rehoming.
func (c *Cluster) Await(ctx context.Context, id messages.TaskID, not string, before uint64) error {
	ctx, cancel := context.WithTimeout(ctx, awaitTime)
	defer cancel()
	tick := time.NewTicker(awaitTick)
	defer tick.Stop()
	for {
		changed, taken := c.member.Changed(), c.nextTaken()
		node, epoch, isMine, ok := c.member.Living(string(id))
		isSame := not != "" && node == not && uint64(epoch) == before
		// It is this node's, of an earlier run too, and has not been taken up yet.
		isBeginning := ok && node == c.config.Node && !(isMine && c.duties.hasBegun(id, epoch))
		if !isSame && !isBeginning && !c.member.IsAwaited(string(id)) && !c.isTaking(id) {
			return nil
		}
		select {
		case <-changed:
		case <-taken:
		case <-tick.C:
		case <-ctx.Done():
			return messages.Errorf(messages.CodeRehoming, "no node has taken task %s in time", id).With("retry_after_s", 1).WithSent(messages.SentNo)
		}
	}
}
