package cli

import (
	"errors"

	"golang.org/x/sys/windows"
)

const errnoAddressInUse = windows.WSAEADDRINUSE

// descriptorLimit fails: the number of handles is bounded by memory alone.
func descriptorLimit() (uint64, error) {
	return 0, errors.New("Windows does not limit how many handles a process has open")
}

// isRunning says whether a process of that number runs, of any user.
func isRunning(pid int) bool {
	if pid <= 0 {
		return false
	}
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER) // there is no such process
	}
	defer windows.CloseHandle(h)
	state, err := windows.WaitForSingleObject(h, 0)
	return err != nil || state == uint32(windows.WAIT_TIMEOUT)
}
