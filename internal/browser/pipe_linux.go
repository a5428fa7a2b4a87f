package browser

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// blockingPipe makes a pipe of which one end, the reading or the writing one, is ours
// and known to the runtime's poller; the other blocks, as Chromium needs it.
func blockingPipe(reading bool) (read, write *os.File, err error) {
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, nil, fmt.Errorf("pipe: %w", err)
	}
	ours := fds[1]
	if reading {
		ours = fds[0]
	}
	if err := unix.SetNonblock(ours, true); err != nil {
		_, _ = unix.Close(fds[0]), unix.Close(fds[1])
		return nil, nil, fmt.Errorf("pipe: %w", err)
	}
	// Where a user's pipes may take no more memory, it stays as it is.
	_, _ = unix.FcntlInt(uintptr(ours), unix.F_SETPIPE_SZ, pipeCapacity)
	return os.NewFile(uintptr(fds[0]), "pipe"), os.NewFile(uintptr(fds[1]), "pipe"), nil
}
