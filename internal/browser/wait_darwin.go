package browser

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitExit returns when the child has ended and leaves it to be reaped, so
// that its pid, and the group that bears its number, stay reserved.
func awaitExit(pid int) {
	queue, err := unix.Kqueue()
	if err != nil {
		pollExit(pid)
		return
	}
	defer unix.Close(queue)
	unix.CloseOnExec(queue)
	var watch [1]unix.Kevent_t
	unix.SetKevent(&watch[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	watch[0].Fflags = unix.NOTE_EXIT
	for {
		// One that has ended already is refused, with ESRCH.
		_, err := unix.Kevent(queue, watch[:], watch[:], nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err == nil, errors.Is(err, unix.ESRCH):
			return
		default:
			pollExit(pid)
			return
		}
	}
}
