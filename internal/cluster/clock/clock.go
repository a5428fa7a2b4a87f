// Package clock reads the clocks that the leases of a cluster are compared with.
package clock

import (
	"time"

	"holdfast/internal/cluster/lease"
)

// Now reads both clocks. The clock since boot is read first, so that a pause between the
// two looks like a step of the wall clock, and costs a lease rather than prolongs one.
func Now() lease.Reading {
	boot := sinceBoot()
	return lease.Reading{Boot: boot, Wall: time.Duration(time.Now().UnixNano())}
}
