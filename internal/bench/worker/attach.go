package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"holdfast/internal/bench/stage"
	"holdfast/messages"
)

// attach starts a task, waits until it is active with so many iframes of other
// processes attached, and stops it; o.Window is their number.
func (c *holdfastClient) attach(ctx context.Context, o Order) (Answer, error) {
	if len(o.Places) == 0 {
		return Answer{}, errors.New("attach to what?")
	}
	spec, err := c.spec(o.Places[0])
	if err != nil {
		return Answer{}, err
	}
	// A target is one task's at a time.
	for _, s := range c.node.Tasks() {
		if s.PageTargetID == spec.TargetID {
			if err := c.node.StopTask(ctx, s.TaskID); err != nil {
				return Answer{}, err
			}
		}
	}
	const id = "bench-attach"
	var a Answer
	for range o.N {
		begun := time.Now()
		s, _, err := c.node.GetOrStart(ctx, id, spec)
		took := time.Since(begun)
		if err != nil {
			return a, err
		}
		if n, err := c.attached(id); err != nil || n != o.Window || s.State != messages.StateActive {
			return a, fmt.Errorf("%s with %d of %d iframes attached (%w)", s.State, n, o.Window, err)
		}
		a.NS = append(a.NS, took.Nanoseconds())
		if err := c.node.StopTask(ctx, id); err != nil {
			return a, err
		}
	}
	return a, nil
}

// attached is how many iframes of other processes have a session.
func (c *holdfastClient) attached(id messages.TaskID) (n int, err error) {
	s, err := c.node.Snapshot(id, messages.SnapshotOptions{Full: true})
	if err != nil || s.FrameTree == nil {
		return 0, err
	}
	for _, f := range s.FrameTree.Children {
		if f.IsOOPIF && f.SessionID != "" {
			n++
		}
	}
	return n, nil
}

// reconnected waits until each task has come back for the n-th time, with all
// that was attached before attached again, and says when. It looks at all of
// them now and then: watching each would be work that is not the node's.
func (c *holdfastClient) reconnected(ctx context.Context, n int) (Answer, error) {
	type waiting struct {
		id   messages.TaskID
		oops int
	}
	var tasks []waiting
	for _, s := range c.node.Tasks() {
		k, err := c.attached(s.TaskID)
		if err != nil {
			return Answer{}, err
		}
		tasks = append(tasks, waiting{s.TaskID, k})
	}
	both := c.links != 1
	at, anchors := make([]int64, len(tasks)), make([]int64, len(tasks))
	c.armed()
	pause := time.NewTicker(pollEvery(len(tasks)))
	defer pause.Stop()
	for left := len(tasks); left > 0; {
		for i, t := range tasks {
			if anchors[i] != 0 {
				continue
			}
			s, err := c.node.Snapshot(t.id, messages.SnapshotOptions{})
			if err != nil {
				return Answer{}, err
			}
			if !s.Active {
				return Answer{}, fmt.Errorf("task %s is %s: %s", t.id, s.State, s.Reason)
			}
			if s.Connection.Reconnects < uint64(n) || s.Connection.Primary != messages.LinkUp || s.State != messages.StateActive {
				continue
			}
			if at[i] == 0 {
				if k, err := c.attached(t.id); err != nil || k < t.oops {
					continue
				}
				at[i] = stage.Now()
			}
			if !both || s.Connection.Anchor == messages.LinkUp {
				anchors[i] = stage.Now()
				left--
			}
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return Answer{}, fmt.Errorf("not all are back: %s", c.late(n))
		}
	}
	return Answer{NS: at, More: anchors}, nil
}

// pollEvery is short where that costs little: a hundredth of a second for a
// thousand tasks. To look at them every other millisecond took a fifth of the
// processor time they need to come back. A task that is back is seen so much later
// at most.
func pollEvery(tasks int) time.Duration {
	return max(200*time.Microsecond, time.Duration(tasks)*10*time.Microsecond)
}

// late describes a task that is not back.
func (c *holdfastClient) late(n int) string {
	for _, s := range c.node.Tasks() {
		k, _ := c.attached(s.TaskID) // it is there
		if s.Connection.Reconnects < uint64(n) || s.Connection.Primary != messages.LinkUp || s.Connection.Anchor != messages.LinkUp || k == 0 {
			return fmt.Sprintf("%s is %s (%s), %+v, with %d iframes attached", s.TaskID, s.State, s.Reason, s.Connection, k)
		}
	}
	return "and now they are"
}
