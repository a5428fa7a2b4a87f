package cluster

import (
	"context"
	"slices"
	"time"

	"holdfast/internal/cluster/lease"
	"holdfast/messages"
	"holdfast/messages/mail"
)

const (
	// claimTime bounds the wait for the store to say whose a task is.
	claimTime = 2 * time.Second
	// orphanAge is how long a record without a living node is kept: a node that was cut off
	// takes its tasks up again within it.
	orphanAge = 30 * time.Second
	// maxOrphans bounds the records that one look clears away.
	maxOrphans = 50
)

// Tasks is what a Cluster needs of its node's tasks. The other methods must not wait.
type Tasks interface {
	// Running lists the tasks that run on the node, or were lost there.
	Running() []messages.TaskID
	// Yield ends a task that another node has.
	Yield(messages.TaskID)
	// Moved does so for one that this node has given away: its CDP clients are told where it is.
	Moved(id messages.TaskID, address string)
	// Unready says what keeps a task from being given to another node now, "" for nothing.
	Unready(messages.TaskID) string
	// Has says whether a task runs on the node, or was lost there.
	Has(messages.TaskID) bool
	// Memory is what another node has to know of a task; false where it does not run.
	Memory(messages.TaskID) (mail.TaskMemory, bool)
	// Resume has a task go on that another node had. It may wait.
	Resume(context.Context, messages.TaskID, messages.TaskSpec, mail.Resumed) error
	// StandBy begins a standby of a task of another node. It may wait.
	StandBy(context.Context, messages.TaskID, messages.TaskSpec, mail.StandbyNews) (Standby, error)
	// Followed has the standby on another node follow a task; false where the task does not run.
	// Changed is called with every change of it.
	Followed(id messages.TaskID, by string, changed func()) (Follower, bool)
	// Lose shows a task whose browser has ended with its node. It may wait.
	Lose(ctx context.Context, id messages.TaskID, spec messages.TaskSpec, version uint64) error
	// Lease says whether the node may decide for its tasks.
	Lease(isHeld bool)
	// TaskLease says whether it may decide for one of them, as far as that goes beyond Lease.
	TaskLease(id messages.TaskID, isHeld bool)
}

// Node is the name of this node.
func (c *Cluster) Node() string { return c.config.Node }

// Place is the node that has a task, and the epoch; ok is false where no node has it, as far
// as this one knows.
func (c *Cluster) Place(id messages.TaskID) (node string, epoch uint64, ok bool) {
	node, e, _, ok := c.member.Living(string(id))
	return node, uint64(e), ok
}

// IsOrphan says whether the node that had a task has lost its lease, and may come back to it.
func (c *Cluster) IsOrphan(id messages.TaskID) bool { return c.member.IsOrphan(string(id)) }

// Lapse is the error of a node that may decide nothing now, nil for one that may.
//
// Codes: lease_lapsed, no_quorum.
func (c *Cluster) Lapse() *messages.Error {
	switch {
	case c.member.Allows():
		return nil
	case c.member.HasQuorum():
		return messages.Errorf(messages.CodeLeaseLapsed, "node %s has no lease", c.config.Node).With("retry_after_s", 1).WithSent(messages.SentNo)
	}
	return messages.Errorf(messages.CodeNoQuorum, "the cluster's store does not answer node %s", c.config.Node).With("retry_after_s", 1).WithSent(messages.SentNo)
}

// Claim makes a task this node's, with the spec it is to be started with, and waits until the
// store has taken that. Until release is
// called the record stays, whether the task runs or not.
//
// Codes: rehoming (another node has the task), lease_lapsed, no_quorum, deadline, limit_reached.
func (c *Cluster) Claim(ctx context.Context, id messages.TaskID, spec messages.TaskSpec) (release func(), err error) {
	var record []byte
	if c.config.Seal != nil {
		if record, err = c.encodeSpec(id, spec); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, claimTime)
	defer cancel()
	c.hold(id, 1)
	release = func() { c.hold(id, -1) }
	for {
		changed := c.member.Changed()
		node, _, isMine, ok := c.member.Living(string(id))
		switch lapse := c.Lapse(); {
		case lapse != nil:
			release()
			return nil, lapse
		case ok && isMine && c.isTaking(id):
			// It is taken up first as another node had it.
		case ok && isMine:
			return release, nil
		case ok:
			release()
			return nil, messages.Errorf(messages.CodeRehoming, "task %s is node %s's", id, node).With("retry_after_s", 1).WithSent(messages.SentNo)
		}
		if !ok && c.isCordoned.Load() {
			release()
			return nil, messages.Errorf(messages.CodeLimitReached, "node %s is cordoned and takes no new tasks: ask another node", c.config.Node).With("reason", messages.LimitCordoned).WithSent(messages.SentNo)
		}
		if !ok {
			c.member.Claim(string(id), record)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			c.releaseOnceKnown(id, release)
			return nil, messages.Errorf(messages.CodeDeadline, "the cluster's store did not say in time whose task %s is", id).WithSent(messages.SentNo)
		}
	}
}

// outcomeTime bounds how long a claim is held whose caller has gone.
const outcomeTime = 10 * time.Second

// releaseOnceKnown releases a claim that was given up before the store has said what came of it. A
// record that comes then is not one to take a task up from: the next look ends it.
func (c *Cluster) releaseOnceKnown(id messages.TaskID, release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return // nothing is taken up any more
	}
	c.all.Go(func() {
		defer release()
		late := time.NewTimer(outcomeTime)
		defer late.Stop()
		for isKnown := false; ; {
			changed := c.member.Changed()
			if _, _, _, ok := c.member.Living(string(id)); ok && !isKnown {
				isKnown = true
				late.Reset(describeEvery) // the order to take it up follows at once
			}
			select {
			case <-changed:
			case <-late.C:
				return
			case <-c.ctx.Done():
				return
			}
		}
	})
}

// hold counts the claims under way of a task.
func (c *Cluster) hold(id messages.TaskID, add int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.claims[id] += add; c.claims[id] == 0 {
		delete(c.claims, id)
	}
}

func (c *Cluster) isHeld(id messages.TaskID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.claims[id] > 0
}

// reconcile compares the tasks that run with the records: it looks at both as they are, so that
// no event is missed.
func (c *Cluster) reconcile(now time.Time) {
	if c.member.Status().Phase != lease.Held || c.isLeaving.Load() {
		return
	}
	for _, id := range c.config.Tasks.Running() {
		switch node, _, isMine, ok := c.member.Living(string(id)); {
		case ok && isMine:
		case !ok:
			c.member.Claim(string(id), nil) // the term in which it was this node's has ended
		default:
			c.config.Log.Warn("another node has the task: it ends here", "task", id, "node", node)
			c.config.Tasks.Yield(id)
		}
	}
	for _, id := range c.member.Duties() {
		if id := messages.TaskID(id); c.isSettled(id) && !c.config.Tasks.Has(id) {
			c.member.End(string(id))
		}
	}
	c.clearOrphans(now)
}

// isSettled says whether a task of this node is neither about to run here nor being started.
func (c *Cluster) isSettled(id messages.TaskID) bool {
	_, epoch, isMine, ok := c.member.Living(string(id))
	return ok && isMine && c.duties.hasBegun(id, epoch) && !c.isHeld(id) && !c.isTaking(id)
}

// clearOrphans claims the records that have had no living node for long: what does not run is
// ended by the next look. Only the first of the nodes does so.
func (c *Cluster) clearOrphans(now time.Time) {
	orphans := c.member.Orphans(maxOrphans)
	for id := range c.orphans {
		if !slices.Contains(orphans, id) {
			delete(c.orphans, id)
		}
	}
	for _, n := range c.View().Nodes {
		if n.State == messages.LeaseHeld {
			if n.Node != c.config.Node {
				return
			}
			break
		}
	}
	for _, id := range orphans {
		since, isKnown := c.orphans[id]
		if !isKnown {
			c.orphans[id] = now
		} else if now.Sub(since) >= orphanAge {
			c.member.Claim(id, nil)
		}
	}
}
