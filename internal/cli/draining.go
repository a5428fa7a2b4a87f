package cli

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// stopReserve is kept of the drain's time for tasks and browsers, which
	// need up to 10 s (A10); a short drain keeps a part of it.
	stopReserve = 10 * time.Second
	// settleTime is how long an answer that is written may wait for its reader
	// once nothing else is left.
	settleTime = 2 * time.Second
)

// margin is what a drain leaves of its time, for the end of the process.
func margin(timeout time.Duration) time.Duration { return min(timeout/5, 2*time.Second) }

// drain ends the node so that every call gets its outcome:
//
//  1. the node says that it is not ready and takes no new task; answers ask their callers
//     to come by another connection next time;
//  2. for drain.delay everything else continues, so that load balancers notice, and as long
//     as a call is under way that began before: its caller may have to answer a dialog for
//     it, and reads are answered;
//     In a cluster its tasks are given to other nodes meanwhile, to which calls are passed on;
//  3. no new connection is accepted; accepted calls may finish, as long as there is time
//     for what follows;
//  4. tasks and browsers end. A call that is still under way gets its outcome from its
//     task, and an event stream ends with its task;
//  5. the servers end.
func (s *server) drain(ctx context.Context) error {
	s.notify(fmt.Sprintf("STOPPING=1\nSTATUS=draining\nEXTEND_TIMEOUT_USEC=%d", s.cfg.Drain.Timeout.Microseconds()))
	if s.node.BeginDrain != nil {
		s.node.BeginDrain()
	}
	if s.handler != nil {
		s.handler.Drain()
		s.linger(ctx)
		calls, cancel := callTime(ctx)
		defer cancel()
		if s.node.HandOver != nil {
			s.node.HandOver(calls)
		}
		_ = s.handler.AwaitEarlier(calls) // who is late is waited for below, or told
		s.withdraw()
		s.front.stopAccepting()
		if err := s.handler.AwaitCalls(calls); errors.Is(err, context.DeadlineExceeded) {
			s.log.Warn("calls have not finished in time; they are ended with their tasks", "calls", s.handler.Calls())
		}
	}
	err := s.node.Stop(ctx)
	if err != nil {
		err = fmt.Errorf("stop node: %w", err)
	}
	settle, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	s.front.close(settle)
	return err
}

// linger lets load balancers notice that the node is not ready.
func (s *server) linger(ctx context.Context) {
	if s.cfg.Drain.Delay == 0 {
		return
	}
	t := time.NewTimer(s.cfg.Drain.Delay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// callTime is what calls under way have, so that the rest of the end has time
// left.
func callTime(ctx context.Context) (context.Context, context.CancelFunc) {
	end, _ := ctx.Deadline()
	left := time.Until(end)
	return context.WithTimeout(ctx, left-min(stopReserve, left*2/5))
}
