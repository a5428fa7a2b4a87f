//go:build unix

package browser

import (
	"fmt"
	"os"
)

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
