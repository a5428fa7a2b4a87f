//go:build unix

package cli

import (
	"errors"
	"syscall"
)

const errnoAddressInUse = syscall.EADDRINUSE

// descriptorLimit returns how many descriptors this process may have open.
func descriptorLimit() (uint64, error) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return uint64(limit.Cur), err
}

// isRunning says whether a process of that number runs, of any user.
func isRunning(pid int) bool {
	return pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
