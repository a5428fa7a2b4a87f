package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleTemporary is the age at which a half-written lease is litter: writing
// one takes milliseconds, and nothing is started before it is whole.
const staleTemporary = time.Hour

// blankWindow is how long a process of ours may be without its command line:
// between fork and exec, when its owner died in that instant, and between the
// release of its memory and its end. Both take milliseconds at most, unless
// the machine is overloaded.
const blankWindow = time.Second

// Reap ends the browsers of nodes that are gone and removes their profiles; a
// node calls it once, at its start. It returns how many browsers it ended.
// Browsers of living nodes, of other managers of this process, and everything
// that cannot be proved to be ours are left alone; the error names what could
// not be settled, and the rest is reaped all the same.
func (m *Manager) Reap(ctx context.Context) (int, error) {
	entries, err := os.ReadDir(filepath.Join(m.store.dir, leasesDir))
	if err != nil {
		return 0, fmt.Errorf("reap browsers: %w", err)
	}
	ended := 0
	var errs []error
	dead, left := graves{}, map[string]bool{}
	defer func() { dead.bury(m.store, left) }()
	for _, entry := range entries {
		if ctx.Err() != nil {
			errs = append(errs, ctx.Err())
			break
		}
		nonce, isLease := strings.CutSuffix(entry.Name(), ".json")
		if id, isLock := lockID(entry.Name()); isLock {
			dead.isDead(m.store, id) // one without leases is litter, if its node is dead
			continue
		}
		if !isLease {
			m.sweepTemporary(entry)
			continue
		}
		l, err := m.store.read(nonce)
		if errors.Is(err, os.ErrNotExist) {
			continue // its node or another reaper was faster
		}
		if err != nil {
			m.log.Warn("browser lease left alone", "lease", entry.Name(), "err", err)
			continue
		}
		n, err := m.reapLease(ctx, l, dead)
		ended += n
		if _, still := os.Lstat(m.store.lease(nonce)); still == nil {
			left[l.Node] = true
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("lease %s: %w", nonce, err))
		}
	}
	return ended, errors.Join(errs...)
}

// reapLease returns 1 if a running browser was ended.
func (m *Manager) reapLease(ctx context.Context, l lease, dead graves) (int, error) {
	isLocal := l.Boot.ID == m.boot.ID && l.Boot.PIDNamespace == m.boot.PIDNamespace
	switch {
	case l.Node != "" && !m.hasNodeDied(ctx, l, isLocal, dead):
		return 0, nil // it lives, wherever
	case l.Boot.ID != m.boot.ID:
		// Nothing survives a boot but the files.
		return 0, m.store.forget(l.Nonce)
	case l.Node != "":
		// In another namespace its processes may not be seen. Those that are carry our
		// profile all the same; the others end with their namespace, or with their pipe.
	case !isLocal:
		m.log.Warn("browser left alone: its node runs or ran in another pid namespace",
			"profile", l.Profile, "namespace", l.Boot.PIDNamespace)
		return 0, nil
	case l.Owner.isAlive():
		return 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, killGrace)
	defer cancel()
	begun, ended := time.Now(), 0
	// A process may be forked while the list is read: until none is found.
	for {
		var found []identity
		err := scan(func(s procStat) {
			// Started before its owner it cannot be the owner's.
			if s.PID == os.Getpid() || s.Start < l.Owner.Start || !m.store.isOf(l, s, isLocal) {
				return
			}
			if s.hasKilled(func() bool { return m.store.isOf(l, s, isLocal) }) {
				found = append(found, s.identity)
			}
		})
		if err != nil {
			return ended, err
		}
		if len(found) == 0 {
			unproved := isLocal && l.Browser.PID != 0 && l.Browser.isAlive()
			// A file's time is of the wall clock, which may have been set back since.
			unrecorded := l.Browser.PID == 0 && time.Since(l.written) < blankWindow && time.Since(begun) < blankWindow
			if !unproved && !unrecorded {
				break
			}
			if unproved && time.Since(begun) > blankWindow {
				m.log.Warn("browser left alone: its process does not carry our profile",
					"pid", l.Browser.PID, "profile", l.Profile)
				return ended, nil
			}
			if err := pause(ctx, endedPoll); err != nil {
				return ended, err
			}
			continue
		}
		ended = 1
		if err := awaitEnded(ctx, found); err != nil {
			return ended, err
		}
	}
	if ended > 0 {
		m.log.Info("browser of a dead node ended", "pid", l.Browser.PID, "owner", l.Owner.PID)
	}
	return ended, m.store.forget(l.Nonce)
}

// hasNodeDied says whether the lease's node is dead, by its lock. A process that a killed node
// had forked holds the lock as well, until it runs its program: where the node's own process
// is known to be gone, the lock is asked for again meanwhile.
func (m *Manager) hasNodeDied(ctx context.Context, l lease, isLocal bool, dead graves) bool {
	for begun := time.Now(); !dead.isDead(m.store, l.Node); delete(dead, l.Node) {
		if !isLocal || l.Owner.isAlive() || time.Since(begun) > blankWindow || pause(ctx, endedPoll) != nil {
			return false
		}
	}
	return true
}

// isOf is the proof that a process belongs to the lease's browser. An argument can be
// anyone's: it also has to be the browser or of its group, or to run a program from the
// directory of the browser's.
func (s store) isOf(l lease, p procStat, isLocal bool) bool {
	if !s.isOwner(l.Nonce, p.PID) {
		return false
	}
	if l.Program == "" || isLocal && (p.identity == l.Browser || l.Group != 0 && p.Group == l.Group) {
		return true
	}
	program, err := programOf(p.PID)
	return err == nil && filepath.Dir(program) == filepath.Dir(l.Program)
}

// sweepTemporary removes what a crash in the middle of writing a lease left.
func (m *Manager) sweepTemporary(entry os.DirEntry) {
	info, err := entry.Info()
	if err != nil || !strings.HasSuffix(entry.Name(), ".json.tmp") || time.Since(info.ModTime()) < staleTemporary {
		return
	}
	if err := os.Remove(filepath.Join(m.store.dir, leasesDir, entry.Name())); err != nil {
		m.log.Warn("litter not removed", "file", entry.Name(), "err", err)
	}
}
