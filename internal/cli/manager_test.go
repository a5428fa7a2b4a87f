package cli_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/internal/cli"
)

// TestWatchdog: the service manager is told that the node lives as long as its
// registry answers, and not a moment longer.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	manager := m.manager()
	var dead atomic.Bool
	asked := make(chan struct{}, 1)
	m.watchdog = func() (time.Duration, error) { return 20 * time.Millisecond, nil }
	m.started = func(n *cli.RunningNode) error {
		n.Alive = func(ctx context.Context) error {
			select {
			case asked <- struct{}{}:
			default:
			}
			if dead.Load() {
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
		return nil
	}
	s := m.serve()
	manager.await(t, "WATCHDOG=1")
	manager.await(t, "WATCHDOG=1")
	dead.Store(true)
	<-asked // perhaps one that was asked before
	for range 3 {
		await(t, "the registry is asked again", asked)
	}
	for len(manager.heard) > 0 {
		<-manager.heard
	}
	for range 3 {
		await(t, "the registry is asked again", asked)
	}
	if len(manager.heard) != 0 {
		t.Errorf("a node whose registry hangs is said to live: %q", <-manager.heard)
	}
	dead.Store(false)
	manager.await(t, "WATCHDOG=1")
	if code := s.stop(); code != 0 || !strings.Contains(s.log.String(), "the registry does not answer") {
		t.Error(code, s.log)
	}
}

func TestServiceManagerThatDoesNotListen(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.notify = func(string) error { return errors.New("no such socket") }
	m.watchdog = func() (time.Duration, error) { return 0, errors.New("not a number") }
	m.started = func(n *cli.RunningNode) error {
		n.Alive = func(context.Context) error { return nil }
		return nil
	}
	s := m.serve()
	if code := s.stop(); code != 0 || !strings.Contains(s.log.String(), "no such socket") || !strings.Contains(s.log.String(), "not a number") {
		t.Error(code, s.log)
	}
}
