package cluster

import (
	"context"
	"time"

	"holdfast/internal/cluster/lease"
	"holdfast/messages"
)

const (
	// moveTick is the pause between two looks at how far a hand-over of many tasks is.
	moveTick = 20 * time.Millisecond
	// moveAgain is the pause before a task is tried again.
	moveAgain = 250 * time.Millisecond
	// moveTime bounds one operator's call.
	moveTime = 50 * time.Second
	// callPatience is how long the first attempt waits for calls under way, while the next ones wait
	// too. Each further attempt waits twice as long.
	callPatience    = 25 * time.Millisecond
	maxCallPatience = 5 * time.Second
	// maxStaying bounds the tasks that an answer names.
	maxStaying = 100
)

// staying says why a task could not be given away, when that is tried again, and how long the next
// attempt waits for calls.
type staying struct {
	why      string
	again    time.Time
	patience time.Duration
}

// prepare answers a Gather: with Gathered once nothing of the task is under way here that decides,
// and with Kept where that is not to be had now. It does not wait.
func (c *Cluster) prepare(g lease.Gather) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return
	}
	c.all.Go(func() {
		<-c.joined
		why := c.settle(messages.TaskID(g.Task))
		if why == "" {
			c.member.Gathered(g)
			return
		}
		c.visits.open(messages.TaskID(g.Task))
		c.member.Kept(g)
	})
}

// settle has a task come to rest, and the store know what the next node has to. It returns what
// keeps the task here, "" for nothing.
func (c *Cluster) settle(id messages.TaskID) (why string) {
	patience := c.patienceFor(id)
	defer func() { c.noteStay(id, why, patience) }()
	if c.config.Seal == nil {
		return "no seal key"
	}
	if why := c.config.Tasks.Unready(id); why != "" {
		return why
	}
	if !c.visits.close(id, patience) {
		return "a call is under way"
	}
	if why := c.config.Tasks.Unready(id); why != "" {
		return why
	}
	c.duties.withhold(id)
	if !c.keepLast(id) {
		return "the store does not answer"
	}
	return ""
}

// keepLast writes the last memory of a task, and says whether the store has it.
func (c *Cluster) keepLast(id messages.TaskID) bool {
	c.keeper.writing.RLock()
	defer c.keeper.writing.RUnlock()
	w, isNew := c.memoryOf(id)
	if !isNew {
		return true
	}
	isKept, done := false, w.done
	w.done = func() { isKept = true; done() }
	c.write(c.ctx, []write{w})
	return isKept
}

func (c *Cluster) patienceFor(id messages.TaskID) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return max(callPatience, c.stays[id].patience)
}

// isDue says whether a task is to be tried.
func (c *Cluster) isDue(task string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !now.Before(c.stays[messages.TaskID(task)].again)
}

// noteStay keeps why a task stays, for the operator, and for the next attempt.
func (c *Cluster) noteStay(id messages.TaskID, why string, patience time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if why == "" {
		delete(c.stays, id)
		return
	}
	c.stays[id] = staying{why, time.Now().Add(moveAgain), min(2*patience, maxCallPatience)}
}

// Drain has this node take no more tasks, and gives those it has to others. It returns once none is
// left that can be given, or the context ends, and is for a node that ends.
func (c *Cluster) Drain(ctx context.Context) messages.ClusterMoves {
	if c.config.Seal != nil {
		c.member.Drain()
	}
	return c.move(ctx, false)
}

// Empty does so for a node that stays: it is cordoned first.
//
// Codes: internal.
func (c *Cluster) Empty(ctx context.Context) (messages.ClusterMoves, error) {
	if err := c.Cordon(true); err != nil {
		return messages.ClusterMoves{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	return c.move(ctx, false), nil
}

// Rebalance gives the tasks of this node, for which another one ranks first, to that node.
func (c *Cluster) Rebalance(ctx context.Context) messages.ClusterMoves {
	ctx, cancel := context.WithTimeout(ctx, moveTime)
	defer cancel()
	return c.move(ctx, true)
}

// move gives tasks away, some at a time, each as soon as it is ready. It looks at the tasks as they
// are, again and again, until none is left that another node could have.
func (c *Cluster) move(ctx context.Context, isMisplaced bool) messages.ClusterMoves {
	var out messages.ClusterMoves
	asked := map[string]bool{}
	tick := time.NewTicker(moveTick)
	defer tick.Stop()
	for {
		changed := c.member.Changed()
		left := map[string]bool{}
		if movable, hasHeir := c.member.Movable(isMisplaced); hasHeir && c.config.Seal != nil {
			for _, id := range movable {
				left[id] = true
			}
		}
		for id := range asked {
			if left[id] {
				continue
			}
			delete(asked, id)
			if _, _, isMine, ok := c.member.Living(id); ok && !isMine {
				out.Moved++
			}
		}
		now := time.Now()
		for id := range left {
			switch isDue := c.isDue(id, now); {
			case !isDue:
				delete(asked, id) // it leaves its place to the next
			case len(asked) < lease.MaxMoving || asked[id]:
				asked[id] = true
				c.member.HandOver(id, "") // nothing happens while one is under way
			}
		}
		if len(left) == 0 || ctx.Err() != nil || !c.member.HasQuorum() {
			out.Staying = c.stayingHere()
			return out
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// stayingHere lists tasks that have not been given away, and why.
func (c *Cluster) stayingHere() []messages.ClusterStay {
	out := []messages.ClusterStay{}
	for _, id := range c.member.Duties() {
		if len(out) == maxStaying {
			break
		}
		c.mu.Lock()
		why := c.stays[messages.TaskID(id)].why
		c.mu.Unlock()
		if why == "" {
			why = c.config.Tasks.Unready(messages.TaskID(id))
		}
		out = append(out, messages.ClusterStay{TaskID: messages.TaskID(id), Why: why})
	}
	return out
}

// Part has the node decide nothing any more, and forget no task for want of it running here: what is
// left is taken over by other nodes, or here after a restart. It is called before the tasks end.
func (c *Cluster) Part() {
	c.isLeaving.Store(true)
	if c.config.Seal == nil {
		return
	}
	movable, _ := c.member.Movable(false)
	for _, id := range movable {
		c.duties.withhold(messages.TaskID(id))
	}
}
