package browser

import "golang.org/x/sys/windows"

// awaitExit returns when the child has ended. Its number stays reserved while its
// [os.Process] holds a handle, until Wait.
func awaitExit(pid int) {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		pollExit(pid)
		return
	}
	defer windows.CloseHandle(h)
	_, _ = windows.WaitForSingleObject(h, windows.INFINITE)
}
