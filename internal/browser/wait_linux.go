package browser

import (
	"errors"
	"syscall"
	"unsafe"
)

const (
	idPID  = 1 // P_PID of waitid(2)
	noWait = 0x01000000
)

// awaitExit returns when the child has ended and leaves it to be reaped, so
// that its pid, and the group that bears its number, stay reserved.
func awaitExit(pid int) {
	var info [128]byte // siginfo_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idPID, uintptr(pid),
			uintptr(unsafe.Pointer(&info)), syscall.WEXITED|noWait, 0, 0)
		if !errors.Is(errno, syscall.EINTR) {
			return
		}
	}
}
