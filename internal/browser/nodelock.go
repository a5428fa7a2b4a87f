package browser

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// nodeLock is a file of one node in the directory of leases, which it holds locked for
// its life. A process that gets the lock knows that the node is dead, also one in a container
// whose processes cannot be seen: the kernel takes the lock from the dead.
type nodeLock struct {
	id   string // named in the node's leases; "" where the file system has no locks
	file *os.File
}

const lockSuffix = ".lock"

func (s store) lockPath(id string) string { return filepath.Join(s.dir, leasesDir, id+lockSuffix) }

// lockNode makes and locks the file of a new node.
func (s store) lockNode() (nodeLock, error) {
	for range 16 {
		id := newNonce()
		f, err := os.OpenFile(s.lockPath(id), os.O_RDWR|os.O_CREATE|os.O_EXCL|openOnlyFile, 0o600)
		if err != nil {
			return nodeLock{}, fmt.Errorf("node lock: %w", err)
		}
		switch err := lockFile(f); {
		case isWithoutLocks(err):
			return nodeLock{}, errors.Join(f.Close(), os.Remove(s.lockPath(id)))
		case err == nil && s.isStill(id, f):
			return nodeLock{id: id, file: f}, nil
		}
		_ = f.Close() // a reaper took it for litter before it was locked
	}
	return nodeLock{}, errors.New("node lock: other nodes remove it while it is made")
}

// release ends the node's claim; its leases are anyone's to reap from now on.
func (l nodeLock) release(s store) error {
	if l.id == "" {
		return nil
	}
	removed, closed := removeOpen(s.lockPath(l.id), l.file)
	if errors.Is(removed, fs.ErrNotExist) {
		removed = nil
	}
	if errors.Is(closed, os.ErrClosed) {
		closed = nil
	}
	return errors.Join(removed, closed)
}

// isStill says whether the file is the one at its path.
func (s store) isStill(id string, f *os.File) bool {
	at, err := os.Lstat(s.lockPath(id))
	if err != nil {
		return false
	}
	held, err := f.Stat()
	return err == nil && os.SameFile(at, held)
}

// graves are the locks of dead nodes that one reaping has got, by id. A node that lives
// has nil.
type graves map[string]*nodeLock

// isDead says whether the node has died. The lock is kept until the reaping is over, so
// that two reapers do not meet.
func (g graves) isDead(s store, id string) bool {
	if l, known := g[id]; known {
		return l != nil
	}
	g[id] = nil
	f, err := os.OpenFile(s.lockPath(id), os.O_RDWR|openOnlyFile, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it has ended in good order, or was reaped
		g[id] = &nodeLock{}
	case err != nil: // it cannot be proved
	case lockFile(f) != nil:
		_ = f.Close()
	default:
		g[id] = &nodeLock{id: id, file: f}
	}
	return g[id] != nil
}

// bury removes the locks of dead nodes that have no leases any more, and gives back
// the others.
func (g graves) bury(s store, left map[string]bool) {
	for id, l := range g {
		switch {
		case l == nil || l.file == nil:
		case left[id]:
			_ = l.file.Close()
		default:
			_ = l.release(s) // what cannot be removed is found again
		}
	}
}

// lockID is the node that a file of the directory is the lock of.
func lockID(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, lockSuffix)
	return id, ok && noncePattern.MatchString(id)
}
