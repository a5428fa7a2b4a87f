package lease

import (
	"time"

	"holdfast/internal/cluster/store"
)

// Effect is what a Machine asks of its shell: one of the types below. A shell that meets
// another one has a defect and panics.
type Effect interface{ effect() }

type (
	// Commit is a transaction for the store. The shell waits for it at most Times.Attempt.
	Commit struct {
		Attempt uint64
		Txn     store.Txn
	}

	// List asks for all keys of the cluster. At most one is under way.
	List struct{}

	// Begin has this node supervise a task. It decides from NotBefore on, in time since
	// boot, as long as the Grant allows it.
	Begin struct {
		Task      string
		Epoch     Epoch
		NotBefore time.Duration
		// IsLost says that the task's browser ended with the node that had launched it.
		IsLost bool
	}

	// Gather has the task start nothing that decides, and asks for a Gathered once nothing
	// of it is under way.
	Gather struct {
		Task  string
		Epoch Epoch
		Heir  string
	}

	// Resume takes a Gather back: the task is still this node's, under the same epoch.
	Resume struct {
		Task  string
		Epoch Epoch
	}

	// Cease ends the supervision of a task on this node. Pages are not left, tabs are not
	// closed.
	Cease struct {
		Task  string
		Epoch Epoch
		Why   Why
	}

	// Stood reports a change of the lease's state.
	Stood struct {
		Phase Phase
		Term  int64
		Why   string
	}

	// Alarm reports a record that breaks the rules. The machine does not act on it.
	Alarm struct{ Key, Problem string }
)

func (Commit) effect() {}
func (List) effect()   {}
func (Begin) effect()  {}
func (Gather) effect() {}
func (Resume) effect() {}
func (Cease) effect()  {}
func (Stood) effect()  {}
func (Alarm) effect()  {}

// Why says for what reason a node ceases to supervise a task.
type Why string

// Reasons of a Cease.
const (
	// WhyFenced means that the node's term is over.
	WhyFenced Why = "fenced"
	// WhyMoved means that another node has the task.
	WhyMoved Why = "moved"
	// WhyEnded means that the task has ended.
	WhyEnded Why = "ended"
)

// Phase is a state of a node's lease.
type Phase string

// Phases of a lease.
const (
	// Outside means that the node has no term: it is joining, or joins anew.
	Outside Phase = "out"
	// Held means that the node decides for its tasks.
	Held Phase = "held"
	// Lapsed means that the deadline has passed and that the term may still be renewed. The
	// node keeps its links and decides nothing.
	Lapsed Phase = "lapsed"
	// Stopped means that the node does not join again: it has left, or is of another era.
	Stopped Phase = "stopped"
)
