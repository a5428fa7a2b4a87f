package browser

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER of prctl(2)

// BecomeSubreaper makes orphaned descendants children of this process instead of the
// system's init. A node does so where no init reaps them, and then runs [ReapOrphans]. It
// holds for the whole process and cannot fail on Linux 3.4 and later.
func BecomeSubreaper() error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, setChildSubreaper, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("become subreaper: %w", errno)
	}
	return nil
}

const (
	// orphanPatience is how long a dead child in our own process group may
	// wait for its Wait before it is taken for an orphan.
	orphanPatience = 10 * time.Second
	// orphanSweep finds what a coalesced SIGCHLD did not announce.
	orphanSweep = orphanPatience / 2
)

// ReapOrphans removes the table entries of orphans that ended as children of
// this process, until ctx ends (row X24). It is for a process that runs as
// pid 1 or has called [BecomeSubreaper]; elsewhere it finds nothing to do.
//
// Children that this package started are never touched. Any other child that
// is waited for must be in our own process group, as exec.Cmd does it, and be
// waited for within orphanPatience of its end: Chromium's orphans are in
// groups and sessions of their own and go at once, an entry in our own group
// goes only when it has stood for that long.
func ReapOrphans(ctx context.Context) {
	woken := make(chan os.Signal, 1)
	signal.Notify(woken, syscall.SIGCHLD)
	defer signal.Stop(woken)
	sweep := time.NewTicker(orphanSweep)
	defer sweep.Stop()
	seen := map[identity]time.Time{}
	for {
		reapOrphans(seen, time.Now())
		select {
		case <-woken:
		case <-sweep.C:
		case <-ctx.Done():
			return
		}
	}
}

// reapOrphans is one round; seen remembers since when an entry in our own
// group has been dead.
func reapOrphans(seen map[identity]time.Time, now time.Time) {
	// No child may be between its birth and its listing meanwhile.
	children.starting.Lock()
	defer children.starting.Unlock()
	dead := map[identity]bool{}
	for _, s := range deadChildren() {
		if isChild(s.PID) {
			continue
		}
		dead[s.identity] = true
		if s.Group == syscall.Getpgrp() {
			since, known := seen[s.identity]
			if !known {
				seen[s.identity] = now
			}
			if !known || now.Sub(since) < orphanPatience {
				continue
			}
		}
		_, _ = syscall.Wait4(s.PID, nil, syscall.WNOHANG, nil)
	}
	for id := range seen {
		if !dead[id] {
			delete(seen, id)
		}
	}
}
