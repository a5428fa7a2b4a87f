//go:build unix

package browser

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openOnlyFile follows no symbolic link, and does not wait for the writer of a pipe.
const openOnlyFile = syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// lockFile takes the lock of a file, or fails at once. The kernel takes it from a
// process that ends.
func lockFile(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// isWithoutLocks says whether the file system has refused a lock because it has none.
func isWithoutLocks(err error) bool {
	return errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOLCK)
}

// removeOpen removes a file, and then closes it.
func removeOpen(path string, f *os.File) (removed, closed error) {
	return os.Remove(path), f.Close()
}

// removeProfile removes a directory and all that is in it.
func removeProfile(dir string) error { return os.RemoveAll(dir) }

// ownerOf returns the user that a file belongs to.
func ownerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
