package dialog

import (
	"slices"

	"github.com/anthdm/hollywood/actor"

	"holdfast/actors/ledger"
	"holdfast/internal/guard"
	"holdfast/internal/shed"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// SessionsChanged tells the dialog actor which actor serves which session.
// The map is never written again.
type SessionsChanged struct {
	PIDs   smallmap.Map[messages.SessionID, *actor.PID] // of the primary link
	Anchor *actor.PID                                   // serves all of the anchor's; nil while there is none
}

func (s SessionsChanged) pid(r messages.Role, id messages.SessionID) *actor.PID {
	if r == messages.RoleAnchor {
		return s.Anchor
	}
	return s.PIDs.At(id)
}

// Actor is the shell around a [Machine].
type Actor struct {
	machine    *Machine
	bounds     *shed.Counts
	supervisor *actor.PID
	sessions   SessionsChanged
	isStarted  bool
	orders     map[messages.DialogID]order // without an outcome
	answers    ledger.Ledger               // answers that travel by the supervisor
	life, told uint64                      // which of the task's dialog actors this is; messages to the supervisor
}

// order is a HandleDialog and who has it.
type order struct {
	role    messages.Role
	session messages.SessionID
	pid     *actor.PID
}

// New returns the behavior of a task's dialog actor, which starts from memory. Life tells it
// from those before it. Spec is not written any more. What is cut off is counted in b.
func New(spec *messages.TaskSpec, memory mail.DialogMemory, supervisor *actor.PID, life uint64, b *shed.Counts) *Actor {
	return &Actor{machine: newMachine(spec, memory), bounds: b, supervisor: supervisor, life: life}
}

// Init implements guard.Behavior. The machine starts with the first
// [SessionsChanged]: before it nothing can be answered.
func (a *Actor) Init(c *guard.Context) { a.answers.Calls = c.System().Calls() }

// Receive implements guard.Behavior.
func (a *Actor) Receive(c *guard.Context, msg any) {
	switch msg := msg.(type) {
	case SessionsChanged:
		a.sessionsChanged(c, msg)
		return
	case mail.DialogHandled:
		if a.orders[msg.Dialog].session == msg.Session {
			delete(a.orders, msg.Dialog)
		}
	}
	a.step(c, msg)
}

func (a *Actor) sessionsChanged(c *guard.Context, s SessionsChanged) {
	a.sessions = s
	if !a.isStarted {
		a.isStarted = true
		a.step(c, Start{})
		return
	}
	// An actor that had an order and is gone took it along. An outcome that it had for the
	// order was reported before its end.
	var lost []messages.DialogID
	for id, o := range a.orders {
		if a.sessions.pid(o.role, o.session) != o.pid {
			lost = append(lost, id)
		}
	}
	slices.Sort(lost)
	for _, id := range lost {
		o := a.orders[id]
		delete(a.orders, id)
		a.step(c, mail.DialogHandled{
			Dialog: id, Session: o.session,
			Err: messages.Errorf(messages.CodeUpstreamUnavailable, "the page's session ended before the answer was confirmed").WithSent(messages.SentYes),
		})
	}
}

// Terminate implements guard.Behavior.
func (a *Actor) Terminate(c *guard.Context, _ guard.Reason) {
	for _, owed := range a.machine.abandon() {
		c.Answer(owed.To, owed.Value, owed.Err)
	}
	a.answers.SettleAll()
}

func (a *Actor) step(c *guard.Context, in any) {
	for _, e := range a.machine.Step(c.Now(), in) {
		switch e := e.(type) {
		case ToSession:
			pid := a.sessions.pid(e.Role, e.Msg.Session)
			if e.Msg.Dialog == "" {
				a.letGo(c, pid, e.Msg)
				continue
			}
			if pid == nil {
				// The session ended under the dialog. Its end is on the way as
				// a message of its own; until then the answer has failed.
				c.Send(c.Self(), mail.DialogHandled{
					Dialog: e.Msg.Dialog, Session: e.Msg.Session,
					Err: notConnected(),
				})
				continue
			}
			smallmap.Put(&a.orders, e.Msg.Dialog, order{e.Role, e.Msg.Session, pid})
			c.Send(pid, e.Msg)
		case ProbeSession:
			if pid := a.sessions.pid(e.Role, e.Msg.Session); pid != nil {
				c.Send(pid, e.Msg)
			} else {
				c.Send(c.Self(), mail.DialogProbed{Dialog: e.Msg.Dialog, Session: e.Msg.Session, Page: e.Msg.Page, Err: notConnected()})
			}
		case MoveSession:
			if pid := a.sessions.pid(e.Role, e.Msg.Session); pid != nil {
				c.Send(pid, e.Msg)
			} else {
				c.Send(c.Self(), mail.PageMoved{Session: e.Msg.Session, Page: e.Msg.Page, Err: notConnected()})
			}
		case ToSupervisor:
			a.tell(c, e.Msg)
		case Arm:
			c.After(e.Name, e.After, TimerFired{e.Name})
		case Disarm:
			c.Cancel(e.Name)
		case Cut:
			a.bounds.Hit(e.Bound)
		case Answer:
			a.answers.Owe("supervisor", e.To, e.Value, e.Err)
			a.tell(c, mail.Relay(e))
		}
	}
}

// tell sends to the supervisor.
func (a *Actor) tell(c *guard.Context, msg any) {
	a.told++
	c.Send(a.supervisor, mail.FromDialog{Life: a.life, Seq: a.told, Msg: msg})
}

// letGo has a call resumed that has no dialog. No caller waits for an outcome; where the
// session has ended, its link may hold the request still.
func (a *Actor) letGo(c *guard.Context, session *actor.PID, o mail.HandleDialog) {
	switch {
	case session != nil:
		c.Send(session, o)
	case o.Pause.Request != "":
		a.tell(c, mail.EndRequest{Role: o.Pause.Holder, Gen: o.Pause.HolderGen, Request: o.Pause.Request})
	}
}

func notConnected() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the page is not connected").WithSent(messages.SentNo)
}
