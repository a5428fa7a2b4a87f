package lease

import (
	"encoding/json"

	"holdfast/internal/cluster/store"
)

// Input is what a Machine is told: one of the types below.
type Input interface{ input() }

type (
	// Woke says that time has passed. A machine wants it every 50 ms.
	Woke struct{}

	// Answered is the outcome of a Commit; each one gets exactly one, within a bound of the
	// shell's. IsUnknown says that no answer came: the transaction has perhaps been carried
	// out, or will be.
	Answered struct {
		Attempt   uint64
		Result    store.Result
		IsUnknown bool
	}

	// Changed is an event of the watch.
	Changed struct{ Event store.Event }

	// Listed answers a List. One that failed gets a ListFailed in its place.
	Listed struct{ Listing store.Listing }

	// ListFailed says that the store did not list.
	ListFailed struct{}

	// HandOver gives a task of this node to another one: Heir, or the first in rank where
	// it is empty.
	HandOver struct{ Task, Heir string }

	// Gathered answers a Gather: no command that decides is under way any more.
	Gathered struct {
		Task  string
		Epoch Epoch
	}

	// Kept answers a Gather where the task cannot be handed over now.
	Kept struct {
		Task  string
		Epoch Epoch
	}

	// Claim takes a task that no living term has, whatever node ranks first for it. Spec, where
	// not empty, is the encoded SpecRecord that is put with it.
	Claim struct {
		Task string
		Spec []byte
	}

	// End deletes a task of this node for good.
	End struct{ Task string }

	// Drain has this node take no more tasks, and hand over those it has.
	Drain struct{}

	// Cordon has this node take no more tasks, and keep those it has; or it takes that back.
	Cordon struct{ IsCordoned bool }

	// Leave ends the term; what the node still has is free for others at once.
	Leave struct{}

	// Described replaces what the node's record says besides: Config.Info. The next renewal
	// writes it.
	Described struct{ Info json.RawMessage }

	// MetEra is the era that another node of the cluster named in its greeting.
	MetEra struct{ Era uint32 }
)

func (Woke) input()       {}
func (Answered) input()   {}
func (Changed) input()    {}
func (Listed) input()     {}
func (ListFailed) input() {}
func (HandOver) input()   {}
func (Gathered) input()   {}
func (Kept) input()       {}
func (End) input()        {}
func (Claim) input()      {}
func (Drain) input()      {}
func (Cordon) input()     {}
func (Leave) input()      {}
func (MetEra) input()     {}
func (Described) input()  {}
