package browser

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// openOnlyFile follows no symbolic link.
const openOnlyFile = windows.FILE_FLAG_OPEN_REPARSE_POINT

// lockFile takes the lock of a file, or fails at once. The system takes it from a
// process that ends.
func lockFile(f *os.File) error {
	const firstByte = 1
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, firstByte, 0, new(windows.Overlapped))
}

// isWithoutLocks says whether the file system has refused a lock because it has none.
func isWithoutLocks(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION)
}

// removeOpen closes a file, and then removes it: no open file can be removed. A reaper
// that takes the lock in between removes it too.
func removeOpen(path string, f *os.File) (removed, closed error) {
	closed = f.Close()
	return os.Remove(path), closed
}

// removePoll is how often a profile is tried to be removed.
const removePoll = 20 * time.Millisecond

// removeProfile removes a directory and all that is in it. For a moment after a process
// has ended, and while a scanner reads them, its files cannot be removed.
func removeProfile(dir string) error {
	for late := time.Now().Add(killGrace); ; time.Sleep(removePoll) {
		err := os.RemoveAll(dir)
		isInUse := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_DIR_NOT_EMPTY)
		if !isInUse || time.Now().After(late) {
			return err
		}
	}
}

// ownerOf returns the user that a file belongs to. Users have no numbers here: it is
// what [os.Geteuid] gives for each.
func ownerOf(fs.FileInfo) int { return os.Geteuid() }
