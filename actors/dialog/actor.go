package dialog

import (
	"github.com/anthdm/hollywood/actor"

	"holdfast/internal/guard"
	"holdfast/messages"
)

// SessionsChanged tells the dialog actor which actor serves which session.
// The map is never written again.
type SessionsChanged struct {
	PIDs map[messages.SessionID]*actor.PID
}

// Actor is the shell around a [Machine].
type Actor struct {
	machine    *Machine
	supervisor *actor.PID
	sessions   map[messages.SessionID]*actor.PID
}

// New returns the behavior of a task's dialog actor, going on from memory.
func New(spec messages.TaskSpec, memory messages.DialogMemory, supervisor *actor.PID) *Actor {
	return &Actor{machine: NewMachine(spec, memory), supervisor: supervisor}
}

// Init implements guard.Behavior.
func (a *Actor) Init(c *guard.Context) { a.step(c, Start{}) }

// Receive implements guard.Behavior.
func (a *Actor) Receive(c *guard.Context, msg any) {
	if s, ok := msg.(SessionsChanged); ok {
		a.sessions = s.PIDs
		return
	}
	a.step(c, msg)
}

// Terminate implements guard.Behavior.
func (a *Actor) Terminate(*guard.Context, guard.Reason) { a.machine.abandon() }

func (a *Actor) step(c *guard.Context, in any) {
	for _, e := range a.machine.Step(c.Now(), in) {
		switch e := e.(type) {
		case ToSession:
			pid := a.sessions[e.Session]
			if pid == nil {
				// The session ended under the dialog. Its end is on the way as
				// a message of its own; until then the answer has failed.
				c.Send(c.Self(), messages.DialogHandled{
					Dialog: e.Msg.Dialog,
					Err:    messages.Errorf(messages.CodeUpstreamUnavailable, "the page is not connected").With("sent", false),
				})
				continue
			}
			c.Send(pid, e.Msg)
		case ToSupervisor:
			c.Send(a.supervisor, e.Msg)
		case Arm:
			c.After(e.Name, e.After, TimerFired{e.Name})
		case Disarm:
			c.Cancel(e.Name)
		case Answer:
			c.Send(a.supervisor, messages.Relay(e))
		}
	}
}
