// Package instance names each run of a node, and proves that the run before it on the same
// directory is dead. The kernel takes a lock from the dead.
package instance

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// Claim is one run of a node on a directory, from [Take] to [Claim.Release].
type Claim struct {
	// Name names this run.
	Name string
	// Predecessor is the run before it, which is dead; "" where there was none.
	Predecessor string
	// Era is the highest one of the cluster that was met on this directory; 0 for none.
	Era uint32
	// IsCordoned says that the node is to take no tasks.
	IsCordoned bool

	dir  string
	lock *fileutil.LockedFile
}

const (
	lockFile   = "lock"
	nameFile   = "instance"
	eraFile    = "era"
	cordonFile = "cordoned"
)

var shape = regexp.MustCompile(`^[A-Za-z0-9]{1,64}$`)

// ErrTaken is the error of a directory on which another process runs.
var ErrTaken = errors.New("another process runs as this node on this state directory")

// Take claims a directory, which is made where there is none. Only one process has it.
func Take(dir string) (*Claim, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	lock, err := fileutil.TryLockFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fileutil.ErrLocked) {
		return nil, fmt.Errorf("cluster: %s: %w", dir, ErrTaken)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	c := &Claim{Name: rand.Text(), dir: dir, lock: lock}
	path := filepath.Join(dir, nameFile)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("cluster: %w", err), c.Release())
	}
	// A file that is cut short names no run: the node then waits as for a stranger's.
	if name := strings.TrimSpace(string(before)); shape.MatchString(name) {
		c.Predecessor = name
	}
	if err := c.readNotes(); err != nil {
		return nil, errors.Join(fmt.Errorf("cluster: %w", err), c.Release())
	}
	if err := replace(path, c.Name); err != nil {
		return nil, errors.Join(fmt.Errorf("cluster: %w", err), c.Release())
	}
	return c, nil
}

// replace writes a file that is there whole, or as it was before.
func replace(path, text string) error {
	temporary := path + ".new"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// readNotes reads what was kept by the runs before.
func (c *Claim) readNotes() error {
	era, err := os.ReadFile(filepath.Join(c.dir, eraFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		n, err := strconv.ParseUint(strings.TrimSpace(string(era)), 10, 32)
		if err != nil {
			return fmt.Errorf("%s has no number of an era: %w", filepath.Join(c.dir, eraFile), err)
		}
		c.Era = uint32(n)
	}
	_, err = os.Stat(filepath.Join(c.dir, cordonFile))
	c.IsCordoned = err == nil
	return nil
}

// SetEra keeps the highest era that the node has met.
func (c *Claim) SetEra(era uint32) error {
	return replace(filepath.Join(c.dir, eraFile), strconv.FormatUint(uint64(era), 10))
}

// SetCordoned keeps whether the node takes no tasks.
func (c *Claim) SetCordoned(isCordoned bool) error {
	path := filepath.Join(c.dir, cordonFile)
	if isCordoned {
		return replace(path, "no new tasks")
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Release gives the directory back.
func (c *Claim) Release() error { return c.lock.Close() }
