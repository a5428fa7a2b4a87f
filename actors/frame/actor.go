package frame

import (
	"github.com/anthdm/hollywood/actor"

	"holdfast/internal/guard"
	"holdfast/internal/shed"
	"holdfast/messages/mail"
)

// Actor is the shell around a [Machine].
type Actor struct {
	machine            *Machine
	supervisor, dialog *actor.PID
	bounds             *shed.Counts
}

// DialogActor tells the frame actor who has to hear of removed frames.
type DialogActor struct{ PID *actor.PID }

// New returns the behavior of the frame actor of a task's link gen. What is
// left out is counted in b.
func New(gen mail.Generation, supervisor, dialog *actor.PID, b *shed.Counts) *Actor {
	return &Actor{machine: NewMachine(gen), supervisor: supervisor, dialog: dialog, bounds: b}
}

// Init implements guard.Behavior.
func (a *Actor) Init(*guard.Context) {}

// Receive implements guard.Behavior.
func (a *Actor) Receive(c *guard.Context, msg any) {
	if d, ok := msg.(DialogActor); ok {
		a.dialog = d.PID
		return
	}
	for _, e := range a.machine.Step(c.Now(), msg) {
		switch e := e.(type) {
		case ToSupervisor:
			c.Send(a.supervisor, e.Msg)
		case ToDialog:
			c.Send(a.dialog, e.Msg)
		case Cut:
			a.bounds.Hit(shed.Frames)
		case FlushSoon:
			c.Send(c.Self(), Flush{})
		}
	}
}

// Terminate implements guard.Behavior.
func (a *Actor) Terminate(*guard.Context, guard.Reason) {}
