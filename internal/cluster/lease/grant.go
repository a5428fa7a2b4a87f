package lease

import "time"

// Reading is what the clocks of a machine show at one instant.
type Reading struct {
	// Boot is the time since the machine started, with the time in suspend in it
	// (CLOCK_BOOTTIME). All deadlines are compared with it.
	Boot time.Duration
	// Wall is the time since 1970. It is compared with Boot alone, to notice a pause that
	// Boot does not show.
	Wall time.Duration
}

// Grant is the permission to decide until a deadline. It is a value: a writer compares it
// with the clocks last, before a command goes to a socket. The zero Grant allows nothing.
type Grant struct {
	// Term is the revision at which the node's record was created.
	Term int64
	// Deadline is in time since boot.
	Deadline time.Duration
	// Offset is what the wall clock was ahead of the clock since boot as the renewal began.
	Offset time.Duration
	// Drift is by how much that may have changed.
	Drift time.Duration
}

// Allows says whether a node may decide at an instant.
func (g Grant) Allows(now Reading) bool {
	drift := now.Wall - now.Boot - g.Offset
	return g.Term != 0 && now.Boot < g.Deadline && drift <= g.Drift && drift >= -g.Drift
}
