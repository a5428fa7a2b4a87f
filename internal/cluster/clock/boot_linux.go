package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot is CLOCK_BOOTTIME, which runs on while the machine is suspended. Go's own
// monotonic clock stands still then.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("clock: the kernel has no CLOCK_BOOTTIME: " + err.Error()) // since Linux 2.6.39
	}
	return time.Duration(t.Nano())
}
