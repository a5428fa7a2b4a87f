package guard

import (
	"reflect"

	"github.com/anthdm/hollywood/actor"
)

// events is the node's one subscriber to hollywood's event stream. There must
// be few subscribers, since each event is sent to each of them, and none may
// leave without unsubscribing: a dead subscriber makes an endless loop of dead
// letters.
type events struct{ sys *System }

func (e *events) Init(*Context) {}

func (e *events) Receive(c *Context, msg any) {
	switch m := msg.(type) {
	case actor.DeadLetterEvent:
		e.sys.observer.DeadLetter(e.sys.exits.isLate(m.Target, c.Now()))
		// Some are normal: a message that crosses an exit. Never the message
		// itself, it may carry page text.
		c.Log().Debug("dead letter", "target", m.Target.GetID(), "type", reflect.TypeOf(m.Message))
	case actor.EngineRemoteMissingEvent:
		e.sys.observer.DeadLetter(true)
		c.Log().Error("message to another node, but there is no remote", "target", m.Target.GetID(), "type", reflect.TypeOf(m.Message))
	case actor.ActorDuplicateIdEvent:
		e.sys.observer.DuplicateID()
		c.Log().Error("actor id is taken", "target", m.PID.GetID())
	case actor.ActorRestartedEvent:
		c.Log().Error("unguarded actor was restarted by the engine", "target", m.PID.GetID(), "restarts", m.Restarts)
	case actor.ActorMaxRestartsExceededEvent:
		c.Log().Error("unguarded actor exceeded the engine's restarts", "target", m.PID.GetID())
	}
}

// Terminate unsubscribes. What the stream forwards before it hears of that is
// one dead letter each, and no more.
func (e *events) Terminate(c *Context, _ Reason) { e.sys.engine.Unsubscribe(c.Self()) }

// learnPill returns the type of hollywood's poison pill, which is not
// exported, by stopping something that is no actor.
func learnPill(e *actor.Engine) reflect.Type {
	probe := &pillProbe{pid: actor.NewPID(e.Address(), "guard/pill")}
	e.SpawnProc(probe)
	defer e.Registry.Remove(probe.pid)
	e.Stop(probe.pid)
	return probe.got
}

type pillProbe struct {
	pid *actor.PID
	got reflect.Type
}

func (p *pillProbe) Start()                                   {}
func (p *pillProbe) PID() *actor.PID                          { return p.pid }
func (p *pillProbe) Send(_ *actor.PID, msg any, _ *actor.PID) { p.got = reflect.TypeOf(msg) }
func (p *pillProbe) Invoke([]actor.Envelope)                  {}
func (p *pillProbe) Shutdown()                                {}
