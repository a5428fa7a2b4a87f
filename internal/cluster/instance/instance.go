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
	"strings"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// Claim is one run of a node on a directory, from [Take] to [Claim.Release].
type Claim struct {
	// Name names this run.
	Name string
	// Predecessor is the run before it, which is dead; "" where there was none.
	Predecessor string
	lock        *fileutil.LockedFile
}

const (
	lockFile = "lock"
	nameFile = "instance"
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
	c := &Claim{Name: rand.Text(), lock: lock}
	path := filepath.Join(dir, nameFile)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("cluster: %w", err), c.Release())
	}
	// A file that is cut short names no run: the node then waits as for a stranger's.
	if name := strings.TrimSpace(string(before)); shape.MatchString(name) {
		c.Predecessor = name
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

// Release gives the directory back.
func (c *Claim) Release() error { return c.lock.Close() }
