//go:build !linux

package cli

import (
	"strconv"
	"time"
)

var begun = time.Now()

// monotonic is a clock that only goes forward, in microseconds. Only systemd reads it,
// which is on Linux alone.
func monotonic() string { return strconv.FormatInt(time.Since(begun).Microseconds(), 10) }
