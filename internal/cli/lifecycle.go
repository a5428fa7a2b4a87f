package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/config"
	"holdfast/messages"
)

// server is a node that serves, from its start to its end:
//
//	starting ──► serving ──SIGTERM, SIGINT, POST /v1/drain──► draining ──► ended
//	               │  ▲                                          │
//	               └──┘ SIGHUP                                   └─ the second signal, the deadline: killed
type server struct {
	*run
	settings *settings
	cfg      *config.Effective // replaced by reload, on the goroutine of live
	level    slog.LevelVar
	log      *slog.Logger
	front    *front
	node     *RunningNode
	handler  *api.Handler
	reloads  <-chan struct{} // a request to read the configuration again
	asked    chan struct{}   // an end was asked for over HTTP; room for one
	withdraw func()          // takes the endpoint file away
}

// The states of the node in its log. A line that tells one is never left out
// as a repetition.
const (
	nodeServing  = "serving"
	nodeDraining = "draining"
	nodeStopped  = "stopped"
)

// ask requests the end; the HTTP interface calls it.
func (s *server) ask() {
	select {
	case s.asked <- struct{}{}:
	default: // it is known already
	}
}

// live serves until the end is requested, and ends.
func (s *server) live() error {
	dog := s.startWatchdog()
	defer dog.stop()
	for {
		var (
			why   string
			cause error
		)
		select {
		case <-s.Done():
			why = context.Cause(s).Error()
		case <-s.asked:
			why = "asked to over HTTP"
		case err := <-s.front.ended:
			s.front.ended <- err // for close, which waits for all of them
			why, cause = "a listener has failed", fmt.Errorf("serve: %w", err)
		case err := <-s.node.Failed:
			why, cause = "the node cannot be part of its cluster", fmt.Errorf("serve: %w", err)
		case <-s.reloads:
			s.reload()
			continue
		}
		dog.feed()
		return s.end(why, cause)
	}
}

var errHurried = messages.Errorf(messages.CodeInternal, "the orderly end was cut short by a second signal; the browsers were killed")

// end is the orderly end (row X11), within drain.timeout whatever happens. A
// second signal, a panic and an overrun deadline kill what is left.
func (s *server) end(why string, cause error) error {
	timeout := s.cfg.Drain.Timeout
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s), timeout-margin(timeout))
	defer cancel()
	s.log.Info("stopping", "state", nodeDraining, "reason", why, "within", timeout, "calls", s.calls(), "tasks", len(s.node.Node.Tasks()))
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("the orderly end panicked", "stack", string(debug.Stack()))
				done <- fmt.Errorf("the orderly end panicked: a value of type %T", p)
			}
		}()
		done <- s.drain(ctx)
	}()
	var err error
	select {
	case err = <-done:
	case <-s.Hurry:
		err = errHurried
	case <-deadline.C:
		err = messages.Errorf(messages.CodeDeadline, "the node did not end within drain.timeout (%v)", timeout)
	}
	s.withdraw()
	if err != nil {
		s.abort()
	} else {
		s.log.Info("stopped", "state", nodeStopped)
	}
	return errors.Join(cause, err)
}

// abortTime is how long the end of killed browsers is waited for. It is less than the five
// seconds that the deployments leave behind drain.timeout.
const abortTime = 3 * time.Second

func (s *server) abort() {
	if s.node.Abort == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s), abortTime)
	defer cancel()
	if err := s.node.Abort(ctx); err != nil {
		s.log.Error("a browser was killed whose end was not seen: the next node on this state directory clears up", "err", err)
	}
}

func (s *server) calls() int {
	if s.handler == nil {
		return 0
	}
	return s.handler.Calls()
}
