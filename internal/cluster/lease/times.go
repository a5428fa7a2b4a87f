package lease

import (
	"fmt"
	"time"
)

// Times are the lengths of a lease. All nodes of a cluster have the same: they stand in
// the cluster's record, and a node with others does not join.
type Times struct {
	// Own is how long after the begin of its last renewal a node may decide.
	Own time.Duration `json:"own"`
	// Take is how long a record has to stand unchanged before another node may delete it.
	// The part by which it exceeds Own covers clocks that run at different rates.
	Take time.Duration `json:"take"`
	// Renew is the pause between the begins of two renewals.
	Renew time.Duration `json:"renew"`
	// Attempt is how long one transaction is waited for. An attempt that hangs on a dead
	// leader of the store may not use up the lease.
	Attempt time.Duration `json:"attempt"`
	// Retry is the pause after an attempt that failed.
	Retry time.Duration `json:"retry"`
	// Back is how long a node judges no other one after its own renewals came back from a
	// gap. Without it everyone deletes everyone's record after an election in the store.
	Back time.Duration `json:"back"`
	// Settle is how long a new owner waits after the end of the old one's term: what that
	// one had sent to the browser has arrived by then.
	Settle time.Duration `json:"settle"`
}

// DefaultTimes returns the times that have been measured with etcd: 2.0 s and 2.2 s, under
// which no node of five lapsed on a starved machine.
func DefaultTimes() Times {
	return Times{
		Own: 2000 * time.Millisecond, Take: 2200 * time.Millisecond, Renew: 250 * time.Millisecond,
		Attempt: 350 * time.Millisecond, Retry: 30 * time.Millisecond, Back: 800 * time.Millisecond,
		Settle: 300 * time.Millisecond,
	}
}

// Validate returns an error for times under which two nodes could decide, or under which
// none could for long.
func (t Times) Validate() error {
	switch {
	case t.Renew <= 0 || t.Attempt <= 0 || t.Retry <= 0 || t.Back < 0 || t.Settle < 0:
		return fmt.Errorf("lease times: renew, attempt and retry have to be positive: %+v", t)
	case t.Take < t.Own+t.Own/10:
		return fmt.Errorf("lease times: take is %v, and has to exceed own (%v) by a tenth: clocks run at different rates", t.Take, t.Own)
	case t.Own < 2*(t.Renew+t.Attempt):
		return fmt.Errorf("lease times: own is %v, and has to leave room for two renewals that fail (%v)", t.Own, 2*(t.Renew+t.Attempt))
	case t.Take > time.Minute:
		return fmt.Errorf("lease times: take is %v, more than a minute", t.Take)
	}
	return nil
}

// fresh is how recent the last renewal of a node has to be that judges others.
func (t Times) fresh() time.Duration { return 2*t.Renew + 100*time.Millisecond }

// drift is by how much the wall clock may have stepped against the clock since boot before
// the lease counts as lapsed: a virtual machine that was paused has no other sign. A pause
// that is not noticed delays the deadline, so it may use up half of what Take is longer
// than Own; the other half is for clocks that run at different rates.
func (t Times) drift() time.Duration { return (t.Take - t.Own) / 2 }
