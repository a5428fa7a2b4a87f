//go:build !linux

package clock

import "time"

var started = time.Now()

// sinceBoot is Go's monotonic clock, since the start of the process. It may stand still
// while the machine sleeps; the step of the wall clock then shows the sleep.
func sinceBoot() time.Duration { return time.Since(started) }
