package cli

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// monotonic is the clock that systemd compares its own with, in microseconds.
func monotonic() string {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // it exists on every Linux
	return strconv.FormatInt(t.Nano()/1000, 10)
}
