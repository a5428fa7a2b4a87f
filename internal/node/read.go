package node

import (
	"context"
	"io"
	"sync"
	"time"

	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/view"
	"holdfast/internal/shed"
	"holdfast/messages"
)

// Snapshot returns a task's state from memory: it never waits, neither for the
// browser nor for an actor. The result is shared and must not be written.
func (n *Node) Snapshot(id messages.TaskID, o messages.SnapshotOptions) (*messages.Snapshot, error) {
	b := n.directory.Board(id)
	if b == nil {
		return nil, notFound(id)
	}
	v := b.View()
	if o == (messages.SnapshotOptions{}) || !v.Snapshot.Active {
		return v.Snapshot, nil
	}
	snap := *v.Snapshot
	if o.TargetID != "" && o.TargetID != snap.PageTargetID {
		found := false
		for _, p := range snap.Pages {
			if p.TargetID == o.TargetID {
				snap.PageTargetID, snap.PageState, found = p.TargetID, p.PageState, true
			}
		}
		if !found {
			return nil, messages.Errorf(messages.CodeTargetNotFound, "the task has no page %s", o.TargetID)
		}
		snap.FrameTree = nil
		if t := v.Trees.At(snap.PageTargetID); t != nil {
			snap.FrameTree = model.Capped(t)
		}
	}
	if o.Full {
		snap.FrameTree = v.Trees.At(snap.PageTargetID)
	}
	return &snap, nil
}

// Watch streams a task's state changes. With resume the stream continues after the version
// given; without it, and where what was missed is gone, it begins with an
// [messages.EventReset] that carries the whole state. A stream holds the task's lease while
// it is open.
func (n *Node) Watch(_ context.Context, id messages.TaskID, after uint64, resume bool) (messages.EventStream, error) {
	b := n.directory.Board(id)
	if b == nil {
		return nil, notFound(id)
	}
	w := &watcher{board: b, bounds: &n.bounds, after: after, closed: make(chan struct{}), done: b.Use()}
	if !resume {
		w.after = never
	}
	return w, nil
}

// Changes returns a task's state changes after the version, or one
// [messages.EventReset] where they are gone. It never waits, and does not hold
// the task's lease.
func (n *Node) Changes(id messages.TaskID, after uint64) ([]messages.Event, error) {
	b := n.directory.Board(id)
	if b == nil {
		return nil, notFound(id)
	}
	events, _ := b.After(after)
	return events, nil
}

// never is a version no board has: what follows it begins with a reset.
const never = ^uint64(0)

type watcher struct {
	board  *view.Board
	bounds *shed.Counts
	after  uint64
	once   sync.Once
	closed chan struct{}
	done   func()
}

// Next implements messages.EventStream.
func (w *watcher) Next(ctx context.Context) ([]messages.Event, error) {
	for {
		ended := !w.board.View().Snapshot.Active // asked before the events, so that the last ones are seen
		events, more := w.board.After(w.after)
		if len(events) > 0 {
			if events[0].Type == messages.EventReset && w.after != never {
				w.bounds.Hit(shed.EventRing)
			}
			w.after = events[len(events)-1].Version
			w.board.Touch(time.Now())
			return events, nil
		}
		if ended {
			return nil, io.EOF
		}
		select {
		case <-more:
		case <-w.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close implements messages.EventStream.
func (w *watcher) Close() {
	w.once.Do(func() {
		close(w.closed)
		w.done()
	})
}
