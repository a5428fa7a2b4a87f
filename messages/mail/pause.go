package mail

import (
	"iter"

	"holdfast/messages"
)

// Pause is what holds a page for a bridged dialog. The zero value is that of a
// native one.
type Pause struct {
	// Key tells the call from every other one, on every link.
	Key string
	// CallFrame is the function that waits, in CDP's words.
	CallFrame string
	// Request is what waits instead, in those of the browser's session on a link, the
	// only one that can answer it.
	Request   string
	Holder    messages.Role
	HolderGen Generation
}

// Mechanism is how the bridge makes a page wait.
type Mechanism uint8

// The mechanisms, in the order in which they are tried.
const (
	ByDebugger Mechanism = iota
	ByRequest
)

func (m Mechanism) String() string { return [...]string{"debugger", "request"}[m] }

// Mechanisms is a set of them.
type Mechanisms uint8

// With is s and m.
func (s Mechanisms) With(m Mechanism) Mechanisms { return s | 1<<m }

// Without is s but for m.
func (s Mechanisms) Without(m Mechanism) Mechanisms { return s &^ (1 << m) }

// Has says whether m is one of s.
func (s Mechanisms) Has(m Mechanism) bool { return s&(1<<m) != 0 }

// All are those of s, in the order in which they are tried.
func (s Mechanisms) All() iter.Seq[Mechanism] {
	return func(yield func(Mechanism) bool) {
		for m := ByDebugger; m <= ByRequest; m++ {
			if s.Has(m) && !yield(m) {
				return
			}
		}
	}
}
