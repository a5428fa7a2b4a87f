package plan

import "math/rand/v2"

// What CDP clients of a task's gateway do, and what is done to them. Only plans of [NewClients]
// have it.
const (
	ClientConnect  Kind = "client_connect"
	ClientCommand  Kind = "client_command"   // Count commands of each client
	ClientOpen     Kind = "client_open"      // a page, by Target.createTarget
	ClientAnswer   Kind = "client_answer"    // each client that is told of dialogs answers one
	ClientEvent    Kind = "client_event"     // a page says something, and its clients hear it
	ClientPopup    Kind = "client_popup"     // held for its clients, one of which may die meanwhile
	ClientDrop     Kind = "client_drop"      // the link is cut under commands of every client
	ClientKill     Kind = "client_kill"      // its socket ends without a word, under a command
	ClientHalfOpen Kind = "client_half_open" // it neither reads nor answers any more
	ClientLeave    Kind = "client_leave"     // by Browser.close
)

// clientWeights say how often each kind comes.
var clientWeights = []struct {
	kind   Kind
	weight int
}{
	{ClientConnect, 24},
	{ClientCommand, 16},
	{ClientOpen, 4},
	{ClientAnswer, 10},
	{ClientEvent, 10},
	{ClientPopup, 6},
	{ClientDrop, 14},
	{ClientKill, 8},
	{ClientHalfOpen, 5},
	{ClientLeave, 3},
}

// ClientKinds lists the kinds of step that only plans of [NewClients] have.
func ClientKinds() (kinds []Kind) {
	for _, w := range clientWeights {
		kinds = append(kinds, w.kind)
	}
	return kinds
}

// NewClients returns the plan of a seed in which about every second step is one of a CDP client
// instead. All else is as in New: chance for this is drawn from a stream of its own.
func NewClients(seed uint64, steps int) Plan {
	p := New(seed, steps)
	p.HasClients = true
	r := rand.New(rand.NewPCG(seed, 0x636c69656e7473))
	sum := 0
	for _, w := range clientWeights {
		sum += w.weight
	}
	for i := range p.Steps {
		isClient, roll := r.IntN(2) == 0, r.IntN(sum)
		if !isClient {
			continue
		}
		s := &p.Steps[i]
		s.HasDialog, s.Panic = false, Panic{}
		for _, w := range clientWeights {
			if roll -= w.weight; roll < 0 {
				s.Kind = w.kind
				break
			}
		}
	}
	return p
}
