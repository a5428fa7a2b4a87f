package cli

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// notify tells the service manager, where there is one.
func (s *server) notify(state string) {
	if s.Notify == nil {
		return
	}
	if err := s.Notify(state); err != nil {
		s.log.Warn("the service manager could not be told", "err", err)
	}
}

// watchdog tells the service manager that the node lives, at half of the time
// it wants to be told, as long as the registry answers: a node whose registry
// hangs is restarted.
type watchdog struct {
	cancel   context.CancelFunc
	draining atomic.Bool
	ended    sync.WaitGroup
}

func (s *server) startWatchdog() *watchdog {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s))
	d := &watchdog{cancel: cancel}
	if s.Watchdog == nil || s.node.Alive == nil {
		return d
	}
	within, err := s.Watchdog()
	if err != nil {
		s.log.Warn("the service manager does not say when it wants to hear of the node", "err", err)
	}
	if within <= 0 {
		return d
	}
	d.ended.Go(func() {
		every := time.NewTicker(within / 2)
		defer every.Stop()
		for {
			if d.draining.Load() || s.isAlive(ctx, within/2) {
				s.notify("WATCHDOG=1")
			}
			select {
			case <-every.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return d
}

func (s *server) isAlive(ctx context.Context, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := s.node.Alive(ctx)
	if err != nil && ctx.Err() != context.Canceled { //nolint:errorlint // Err returns it as it is
		s.log.Error("the registry does not answer: the service manager is not told that the node lives", "err", err)
	}
	return err == nil
}

// feed keeps the watchdog quiet from here on: a drain has a deadline of its
// own, and no registry at its end.
func (d *watchdog) feed() { d.draining.Store(true) }

func (d *watchdog) stop() {
	d.cancel()
	d.ended.Wait()
}
