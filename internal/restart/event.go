package restart

import "time"

// Event is what happened to a supervisor or its children.
type Event interface{ event() }

type (
	// Exited says that a generation of a child is gone. Roll, in [0, 1], is
	// the jitter of the backoff this exit may cause. Excused says that something
	// else than the child was at fault: it is started again after its backoff, and
	// the exit counts for no limit.
	Exited struct {
		ID         string
		Gen        uint64
		IsAbnormal bool
		IsExcused  bool
		Roll       float64
	}

	// Ready says that a generation of a child is healthy: its failures are
	// forgiven and its backoff starts over.
	Ready struct {
		ID  string
		Gen uint64
	}

	// Due says that the Wait with this token is over.
	Due struct{ Token uint64 }

	// Add adds a child at the end of the order and starts it. It starts at once, or with
	// the round in progress where the strategy ties it to siblings that are down. A child
	// that ended (transient, normal exit) is started again in its place. Nothing happens
	// when the child already runs or is about to, or after a GiveUp or Shutdown.
	Add struct{ Child Child }

	// Remove stops a child and forgets it. Adding it again before it has
	// exited starts a new generation after the exit.
	Remove struct{ ID string }

	// SetPatience changes a child's Patience, also in the middle of a row.
	SetPatience struct {
		ID       string
		Patience time.Duration
	}

	// Shutdown stops all children right to left; Done follows.
	Shutdown struct{}
)

func (Exited) event()      {}
func (Ready) event()       {}
func (Due) event()         {}
func (Add) event()         {}
func (Remove) event()      {}
func (SetPatience) event() {}
func (Shutdown) event()    {}

// Action is what the caller has to do. Actions are carried out in the order
// they are returned.
type Action interface{ action() }

type (
	// Start asks for a new generation of a child. Its end is reported with
	// one Exited, also when it never came up.
	Start struct {
		ID  string
		Gen uint64
	}

	// Stop asks a generation to end; the answer is its Exited.
	Stop struct {
		ID  string
		Gen uint64
	}

	// Wait asks for Due{Token} after Delay. A Wait that was overtaken by
	// events is not cancelled: its Due is dropped.
	Wait struct {
		Token uint64
		Delay time.Duration
	}

	// GiveUp says that the budget is spent and every child has exited. ID is
	// the child whose failure was one too many, Failures how often it had
	// failed in a row, and For how long ago that row had begun. Nothing is started
	// afterwards.
	GiveUp struct {
		ID       string
		Failures int
		For      time.Duration
	}

	// Done says that the Shutdown is complete.
	Done struct{}
)

func (Start) action()  {}
func (Stop) action()   {}
func (Wait) action()   {}
func (GiveUp) action() {}
func (Done) action()   {}
