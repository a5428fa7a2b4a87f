package restart

import (
	"errors"
	"fmt"
	"time"
)

// Strategy says which siblings share the fate of a child that failed.
type Strategy uint8

// The strategies of OTP's supervisor.
const (
	// OneForOne restarts the failed child alone.
	OneForOne Strategy = iota
	// OneForAll restarts all children.
	OneForAll
	// RestForOne restarts the failed child and those after it.
	RestForOne
)

// String returns OTP's name of the strategy.
func (s Strategy) String() string {
	switch s {
	case OneForOne:
		return "one_for_one"
	case OneForAll:
		return "one_for_all"
	case RestForOne:
		return "rest_for_one"
	}
	return fmt.Sprintf("strategy(%d)", uint8(s))
}

// Type says after which exits a child is started again.
type Type uint8

// The restart types of OTP's supervisor.
const (
	// Permanent children are always started again.
	Permanent Type = iota
	// Transient children are started again after an abnormal exit only.
	Transient
	// Temporary children are never started again: they are forgotten once
	// they have exited, whatever the reason.
	Temporary
)

// String returns OTP's name of the type.
func (t Type) String() string {
	switch t {
	case Permanent:
		return "permanent"
	case Transient:
		return "transient"
	case Temporary:
		return "temporary"
	}
	return fmt.Sprintf("type(%d)", uint8(t))
}

// Child describes one child of a supervisor.
type Child struct {
	// ID is unique among the children of one supervisor.
	ID   string
	Type Type
	// Patience is how long a child has to have failed, since the row of its failures
	// began, before MaxConsecutive counts. [SetPatience] changes it.
	Patience time.Duration
}

// Backoff is an exponential backoff with jitter: attempt 1 is made at once,
// attempt n after Base·2ⁿ⁻², at most Cap, of which the upper half is random. The
// lower half is certain: attempts that follow each other too closely spend a budget
// before anything can have changed. The upper half spreads them, because a browser
// that ends loses all of its links in one instant.
type Backoff struct {
	Base, Cap time.Duration
}

// Delay returns the wait before the given attempt, the first being 1. roll is
// a random number in [0, 1]; what lies outside is clamped.
func (b Backoff) Delay(attempt int, roll float64) time.Duration {
	if attempt <= 1 {
		return 0
	}
	highest := b.ceiling(attempt - 2)
	return highest/2 + scale(highest-highest/2, roll)
}

// ceiling returns min(Cap, Base<<shift) without overflow.
func (b Backoff) ceiling(shift int) time.Duration {
	if b.Base <= 0 || b.Cap <= 0 {
		return 0
	}
	if shift >= 63 || b.Base > b.Cap>>shift {
		return b.Cap
	}
	return b.Base << shift
}

func scale(d time.Duration, roll float64) time.Duration {
	switch {
	case roll >= 1:
		return d
	case roll > 0:
		// The product can round up to d's next float; never exceed d.
		return min(d, time.Duration(float64(d)*roll))
	default: // zero, negative, NaN
		return 0
	}
}

// Policy is what a supervisor does about the exits of its children.
type Policy struct {
	Strategy Strategy

	// More than Intensity restarts within Period make the supervisor give
	// up. A Period of 0 turns the window off.
	Intensity int
	Period    time.Duration

	// MaxConsecutive is the number of failures of one child in a row,
	// without a Ready between them, at which the supervisor gives up: with 5
	// the fifth failure is the last, if the child's Patience is over by then. 0
	// turns it off. The exit of a generation that had been Ready is a loss: it begins
	// a row and is no failure of it. A child that is never reported as Ready collects
	// failures, and so backoff, for its whole life.
	MaxConsecutive int

	Backoff Backoff
}

// Validate reports everything that is wrong with the policy.
func (p Policy) Validate() error {
	var errs []error
	if p.Strategy > RestForOne {
		errs = append(errs, fmt.Errorf("restart policy: unknown strategy %d", p.Strategy))
	}
	if p.Intensity < 0 {
		errs = append(errs, fmt.Errorf("restart policy: negative intensity %d", p.Intensity))
	}
	if p.Period < 0 {
		errs = append(errs, fmt.Errorf("restart policy: negative period %v", p.Period))
	}
	if p.Period == 0 && p.Intensity > 0 {
		errs = append(errs, fmt.Errorf("restart policy: intensity %d without a period", p.Intensity))
	}
	if p.MaxConsecutive < 0 {
		errs = append(errs, fmt.Errorf("restart policy: negative limit of consecutive failures %d", p.MaxConsecutive))
	}
	if p.Backoff.Base < 0 {
		errs = append(errs, fmt.Errorf("restart policy: negative backoff base %v", p.Backoff.Base))
	}
	if p.Backoff.Cap < p.Backoff.Base {
		errs = append(errs, fmt.Errorf("restart policy: backoff cap %v below its base %v", p.Backoff.Cap, p.Backoff.Base))
	}
	return errors.Join(errs...)
}

// window remembers the restarts of the last period.
type window struct {
	at []time.Time
}

// isExceeded notes a restart at now and tells whether it is one too many.
func (w *window) isExceeded(now time.Time, intensity int, period time.Duration) bool {
	if period <= 0 {
		return false
	}
	old := 0
	for old < len(w.at) && now.Sub(w.at[old]) > period {
		old++
	}
	w.at = append(w.at[:0], w.at[old:]...)
	w.at = append(w.at, now)
	return len(w.at) > intensity
}
