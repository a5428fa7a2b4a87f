package cluster

import (
	"context"
	"errors"
	"time"

	"holdfast/internal/cluster/clock"
	"holdfast/internal/cluster/lease"
	"holdfast/internal/cluster/store"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/metrics"
)

// takeAgain is the pause before a task is taken up once more that could not be.
const takeAgain = time.Second

// takeUp has a task run here that this node has the record of: another node had it, or an earlier
// run of this one.
func (c *Cluster) takeUp(b lease.Begin) {
	id := messages.TaskID(b.Task)
	if c.config.Seal == nil || c.isHeld(id) || c.config.Tasks.Has(id) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return
	}
	_, isTaking := c.taking[id]
	c.taking[id] = b
	if !isTaking {
		c.all.Go(func() { c.takeUpAll(id, b) })
	}
}

// takeUpAll takes a task up, and once more where it has become this node's anew meanwhile.
func (c *Cluster) takeUpAll(id messages.TaskID, b lease.Begin) {
	select {
	case <-c.joined:
	case <-c.ctx.Done():
		return
	}
	for isNewer := true; isNewer; {
		c.resume(id, b)
		c.mu.Lock()
		newest := c.taking[id]
		if isNewer = newest.Epoch != b.Epoch; isNewer {
			b = newest
		} else {
			delete(c.taking, id)
			close(c.taken)
			c.taken = make(chan struct{})
		}
		c.mu.Unlock()
	}
}

// isTaking says whether a task is being taken up.
func (c *Cluster) isTaking(id messages.TaskID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, isTaking := c.taking[id]
	return isTaking
}

// nextTaken is closed when a task has been taken up.
func (c *Cluster) nextTaken() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.taken
}

// resume tries until the task runs, or is this node's no more.
func (c *Cluster) resume(id messages.TaskID, b lease.Begin) {
	for {
		if _, _, isMine, ok := c.member.Living(string(id)); !ok || !isMine {
			return
		}
		var err error
		how := metrics.TakenByStandby
		if !c.hasPromoted(c.ctx, id) {
			how, err = c.resumeOnce(id, b)
		}
		if err == nil {
			c.counts.taken[how].Add(1)
			c.duties.tell(id) // now there is a task to tell
			c.config.Log.Info("the task continues at this node", "task", id, "epoch", b.Epoch.String(), "how", how)
			return
		}
		if errors.Is(err, errNoSpec) {
			return // the next look ends it
		}
		c.config.Log.Warn("a task of another node could not be taken up yet", "task", id, "err", err)
		pause := time.NewTimer(takeAgain)
		select {
		case <-pause.C:
		case <-c.ctx.Done():
			pause.Stop()
			return
		}
	}
}

var errNoSpec = errors.New("the store has no spec of the task")

// resumeOnce has the task run as the store has it. It returns how.
func (c *Cluster) resumeOnce(id messages.TaskID, b lease.Begin) (metrics.Taking, error) {
	ctx, cancel := context.WithTimeout(c.ctx, claimTime)
	defer cancel()
	specKey, memoryKey := lease.SpecKey(b.Task), lease.MemoryKey(b.Task)
	found, err := c.read(ctx, specKey, memoryKey)
	if err != nil {
		return "", err
	}
	if found[specKey] == nil {
		return "", errNoSpec
	}
	spec, err := c.decodeSpec(id, found[specKey])
	if err != nil {
		return "", err
	}
	var memory mail.TaskMemory
	if sealed := found[memoryKey]; sealed != nil {
		if memory, err = c.decodeMemory(id, sealed); err != nil {
			c.config.Log.Warn("what was known of a task's pages cannot be read", "task", id, "err", err)
		}
	}
	isLost := b.IsLost && spec.Launch != nil
	if isLost && spec.Launch.Restart != messages.RestartAnywhere {
		return metrics.TakenLost, c.config.Tasks.Lose(ctx, id, spec, memory.Version)
	}
	if isLost {
		memory = mail.TaskMemory{Version: memory.Version} // of a browser that has ended
	}
	err = c.config.Tasks.Resume(ctx, id, spec, mail.Resumed{Memory: memory, IsWithheld: !c.duties.get(id).allows(clock.Now())})
	if code := messages.CodeOf(err); code == messages.CodeForbidden || code == messages.CodeInvalidArgument {
		c.config.Log.Error("a task of another node may not run at this one", "task", id, "err", err)
		return metrics.TakenLost, c.config.Tasks.Lose(ctx, id, spec, memory.Version)
	}
	return metrics.TakenByAttach, err
}

// read looks keys up: a transaction whose condition never holds finds them.
func (c *Cluster) read(ctx context.Context, keys ...string) (map[string][]byte, error) {
	r, err := c.config.Store.Commit(ctx, store.Txn{If: []store.Condition{{Key: keys[0], Test: store.ChangedAt, Revision: -1}}, Read: keys})
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	for _, e := range r.Found {
		found[e.Key] = e.Value
	}
	return found, nil
}
