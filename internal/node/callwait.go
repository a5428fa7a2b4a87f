package node

import (
	"context"
	"errors"
	"time"

	"holdfast/actors/supervisor/view"
	"holdfast/internal/node/command"
	"holdfast/messages"
)

// lookAgain is how often a call that waits tries anew: what a session is given again
// behind an attach is on no board.
const lookAgain = 100 * time.Millisecond

// patience is how long a call may wait before it is sent.
type patience struct {
	wait   time.Duration // for the link
	within time.Duration // all of it, the call included
}

// patiently makes a call, and again whenever it was not sent and the task has changed,
// until it is sent or its patience is over. The error is then the last one. A call that
// was sent, or may have been, is never repeated. Left is what the call has of its time.
func (n *Node) patiently(ctx context.Context, id messages.TaskID, p patience, call func(b *view.Board, v *view.View, left time.Duration) error) error {
	began := time.Now()
	board, v, err := n.living(id)
	if board != nil {
		board.Begin()
		defer board.Done()
		n.restrict(ctx, id)
		err = call(board, v, p.within)
	}
	if err == nil || !n.mayWait(err) {
		return shown(err)
	}
	if board == nil {
		// It starts, or its end has just been told: what is waited for has a board.
		if board = n.directory.Board(id); board == nil {
			return shown(err)
		}
		board.Begin()
		defer board.Done()
	}
	again := time.NewTimer(lookAgain)
	defer again.Stop()
	for {
		patience := p.within
		if held := (*command.HeldBack)(nil); !errors.As(err, &held) {
			patience = min(p.wait, p.within)
		}
		over := patience - time.Since(began)
		if over <= 0 || !n.mayWait(err) {
			return shown(err)
		}
		again.Reset(min(over, lookAgain))
		changed := board.Changed(version(v))
		select {
		case <-changed:
		case <-again.C:
		case <-ctx.Done():
			return shown(err)
		}
		left := p.within - time.Since(began)
		if left < messages.MinCallTimeout {
			return shown(err)
		}
		now, view, notLiving := n.living(id)
		switch {
		case notLiving != nil:
			err, v = notLiving, board.View()
		case now != board:
			return shown(err) // another task of the same name: the call was not meant for it
		default:
			n.restrict(ctx, id)
			err, v = call(board, view, left), view
		}
		if err == nil {
			return nil
		}
	}
}

// mayWait says whether a call that ended with err was not sent and can be sent later.
func (n *Node) mayWait(err error) bool {
	if held := (*command.HeldBack)(nil); errors.As(err, &held) {
		return true
	}
	e, ok := errors.AsType[*messages.Error](err)
	return ok && e.Code == messages.CodeUpstreamUnavailable && e.Sent == messages.SentNo && !e.IsFinal && !n.stopping.Load()
}

// shown is err as callers know it.
func shown(err error) error {
	if held := (*command.HeldBack)(nil); errors.As(err, &held) {
		return held.Why
	}
	return err
}

func version(v *view.View) uint64 {
	if v == nil {
		return 0
	}
	return v.Snapshot.Version
}
