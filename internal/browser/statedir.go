package browser

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// prepareStateDir makes the directories of leases and profiles. A user who can write there
// can put a lease, a profile or a token of their own in place, so it refuses what is
// not safe, or warns of it.
func prepareStateDir(dir string) (warning string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	warning, err = CheckStateDir(dir)
	if err != nil {
		return "", err
	}
	for _, sub := range []string{leasesDir, profilesDir} {
		path := filepath.Join(dir, sub)
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("state directory: %w", err)
		}
		// No symbolic link in its place: profiles are removed recursively.
		info, err := os.Lstat(path)
		if err != nil {
			return "", fmt.Errorf("state directory: %w", err)
		}
		if !info.IsDir() {
			return "", fmt.Errorf("%s is not a directory", path)
		}
		if owner := ownerOf(info); owner != os.Geteuid() {
			return "", fmt.Errorf("%s belongs to user %d: remove it, or name another state directory", path, owner)
		}
		if err := os.Chmod(path, 0o700); err != nil {
			return "", fmt.Errorf("state directory: %w", err)
		}
	}
	return warning, nil
}

// CheckStateDir refuses a state directory that belongs to another user, or that others
// may write to. One that root has given to a node that is not root, as volumes are
// mounted, gets a warning instead: the node cannot change it.
func CheckStateDir(dir string) (warning string, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return "", fmt.Errorf("state directory: %w", err)
	}
	self, owner, mode := os.Geteuid(), ownerOf(info), info.Mode().Perm()
	const shared = 0o022
	switch {
	case owner != self && owner != 0:
		return "", fmt.Errorf("state directory %s belongs to user %d, and this is user %d: name another one", dir, owner, self)
	case mode&shared == 0:
		return "", nil
	case owner != self:
		return fmt.Sprintf("state directory %s may be written by other users (mode %04o), and belongs to root", dir, mode), nil
	}
	return "", fmt.Errorf("state directory %s may be written by other users (mode %04o): run chmod 700 on it", dir, mode)
}

func ownerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
