package session

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/actors/ledger"
	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/actors/session/page"
	"holdfast/actors/session/wanted"
	"holdfast/actors/supervisor/admit"
	"holdfast/internal/guard"
	"holdfast/internal/shed"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport"
	"holdfast/transport/quirks"
)

// Peers are the actors a session talks to. As a message it replaces those it
// had: one of them has been restarted.
type Peers struct {
	Supervisor *actor.PID
	Dialog     *actor.PID
	Frame      *actor.PID
}

// Page is the actor of a page's or an out-of-process iframe's session.
type Page struct {
	mux     *transport.Mux
	peers   Peers
	machine *page.Machine
	source  decode.Source // of its events
	answers ledger.Ledger // answers that travel by the frame actor or the supervisor
	queued  queued        // in the mailbox
	bounds  *shed.Counts
	wanted  *wanted.Store
	refused []string // of wanted, as last told

	isGathering bool // what follows from several facts is sent together
	kept        gathered
}

// NewPage returns the behavior for a session that has just been attached on
// mux. b counts what is cut off; w is what the task wants of its pages.
func NewPage(cfg page.Config, mux *transport.Mux, peers Peers, b *shed.Counts, w *wanted.Store) *Page {
	return &Page{mux: mux, peers: peers, machine: page.New(cfg), source: cfg.Source(), bounds: b, wanted: w}
}

// NewPort returns the callers' way to the session of cfg, whose actor is pid.
func NewPort(cfg page.Config, mux *transport.Mux, sys *guard.System, pid *actor.PID, w *wanted.Store) *Port {
	return &Port{
		Session: cfg.Session, IsPage: cfg.IsPage, mux: mux, place: cfg.Place(), wanted: w, made: time.Now(),
		stalled: func() { sys.Send(pid, mail.ProbeSession{}) },
		replied: func() { sys.Send(pid, mail.RendererReplied{}) },
		settled: func() { sys.Send(pid, settled{}) },
		rearm: func(method string, done func()) {
			sys.Send(pid, mail.RearmBridge{Method: method, Done: sys.Calls().Open(func(any, error) { done() })})
		},
	}
}

// Init implements guard.Behavior.
func (p *Page) Init(c *guard.Context) {
	p.answers.Calls = c.System().Calls()
	in := &intake{cfg: p.machine.Config(), source: p.source, mux: p.mux, door: c.Door(), queued: &p.queued, bounds: p.bounds}
	p.mux.Gather(p.machine.Config().Session, transport.Gathering{Sink: in.take, Settle: in.settle, Unread: in.takeUnread})
	p.step(c, effect.Start{})
}

// Receive implements guard.Behavior.
func (p *Page) Receive(c *guard.Context, msg any) {
	switch msg := msg.(type) {
	case Peers:
		if msg.Frame != p.peers.Frame {
			p.answers.Settle(byFrame) // what the last one had with it is lost
			defer p.step(c, mail.ReloadFrames{})
		}
		if msg.Dialog != p.peers.Dialog {
			defer p.step(c, effect.TellAgain{})
		}
		p.peers = msg
		return
	case *said:
		p.receiveSaid(c, msg)
		return
	case mail.ConsoleReported:
		p.queued.errors.Add(-1)
		p.countCut(msg)
	case mail.RearmBridge:
		defer c.Answer(msg.Done, nil, nil)
	case settled:
		p.tellRefused(c)
		return
	}
	p.step(c, msg)
}

// State implements guard.Stater.
func (p *Page) State() string { return p.machine.State() }

// Terminate implements guard.Behavior.
func (p *Page) Terminate(c *guard.Context, _ guard.Reason) {
	p.mux.Unbind(p.machine.Config().Session)
	p.wanted.End(p.machine.Config().Place())
	p.mux.Abandon(p.machine.Config().Session, effect.SessionEnded())
	for _, a := range p.machine.Abandon() {
		c.Answer(a.To, a.Value, a.Err)
	}
	p.answers.SettleAll()
}

// The ways an answer takes to its caller.
const (
	byFrame      = "frame"
	bySupervisor = "supervisor"
)

func (p *Page) step(c *guard.Context, in any) { p.carryOut(c, p.machine.Step(c.Now(), in)) }

func (p *Page) carryOut(c *guard.Context, effects []effect.Effect) {
	for _, e := range effects {
		if p.isGathering && p.gather(c, e) {
			continue
		}
		switch e := e.(type) {
		case effect.Command:
			command(c, p.mux, p.machine.Config().Session, e)
		case effect.Restore:
			p.restore(c, e)
		case effect.ToDialog:
			c.Send(p.peers.Dialog, e.Msg)
		case effect.ToFrame:
			c.Send(p.peers.Frame, e.Msg)
		case effect.ToSupervisor:
			c.Send(p.peers.Supervisor, e.Msg)
		case effect.Arm:
			c.After(e.Timer.String(), e.After, effect.TimerFired{Timer: e.Timer})
		case effect.Disarm:
			c.Cancel(e.Timer.String())
		case effect.Suspect:
			p.mux.Suspect()
		case effect.Interrupt:
			now := c.Now()
			byDialog := e.Err.Code == messages.CodeBlockedByDialog
			p.mux.Interrupt(p.machine.Config().Session, e.Err, func(call transport.PendingCall, age time.Duration) bool {
				return (e.Before.IsZero() || now.Add(-age).Before(e.Before)) && !(byDialog && call.IsPatient) &&
					(!e.NeedsRenderer || admit.IsHeldUp(call.Method))
			})
		case effect.Answer:
			// By way of the frames, which are part of what a result follows from;
			// an error tells of none.
			via, pid := byFrame, p.peers.Frame
			if e.Err != nil || pid == nil {
				via, pid = bySupervisor, p.peers.Supervisor
			}
			p.answers.Owe(via, e.To, e.Value, e.Err)
			c.Send(pid, mail.Relay(e))
		default:
			panic(effect.Unknown(e))
		}
	}
}

// Restoring tells the supervisor which settings a session does not have yet: the
// browser has refused them.
type Restoring struct {
	Gen     mail.Generation
	Page    messages.TargetID
	Session messages.SessionID
	Methods []string // sorted
}

// settled says that what the session was given, or was refused, may have changed.
type settled struct{}

func (p *Page) tellRefused(c *guard.Context) {
	cfg := p.machine.Config()
	if methods := p.wanted.Refused(cfg.Place()); !slices.Equal(methods, p.refused) {
		p.refused = methods
		c.Send(p.peers.Supervisor, Restoring{Gen: cfg.Gen, Page: cfg.Page, Session: cfg.Session, Methods: methods})
	}
}

// restore gives the session what was set, and what an agent has set meanwhile behind it.
func (p *Page) restore(c *guard.Context, e effect.Restore) {
	self, sys, mux, w, place, supervisor := c.Self(), c.System(), p.mux, p.wanted, p.machine.Config().Place(), p.peers.Supervisor
	var commands []wanted.Command
	switch {
	case e.IsRepeated:
		if commands, supervisor = append(w.Leaving(place), w.Again(place)...), nil; len(commands) == 0 {
			return
		}
	case e.IsRevived:
		commands = w.Revive(place)
	default:
		commands = w.Begin(place)
	}
	restore(sys, mux, w, place, commands, supervisor, func() {
		restore(sys, mux, w, place, w.Behind(place), nil, func() { sys.Send(self, settled{}) })
		if !e.IsRepeated {
			sys.Send(self, effect.Restored{Round: e.Round})
		}
	})
}

// RestoreRefused tells the supervisor that the browser did not take what it had
// taken on an earlier session.
type RestoreRefused struct {
	Target messages.TargetID
	Method string
	Err    error
}

// restore writes what agents had set, pipelined like the rest of an attach. done is
// called, on any goroutine, when each command has had its outcome.
// A nil supervisor is not told of what is refused.
func restore(sys *guard.System, mux *transport.Mux, w *wanted.Store, p wanted.Place, commands []wanted.Command, supervisor *actor.PID, done func()) {
	if len(commands) == 0 {
		done()
		return
	}
	var left atomic.Int64
	left.Store(int64(len(commands)))
	for _, e := range commands {
		mux.Start(transport.Call{SessionID: p.Session, Method: e.Method, Params: e.Params, Done: func(r transport.Reply) {
			w.Established(p, e.ID, r.Result, r.Err)
			var refusal *transport.RPCError
			// What a crash has swallowed is given to the next renderer.
			if supervisor != nil && errors.As(r.Err, &refusal) && quirks.ClassifyText(refusal.Message) != quirks.TargetCrashed {
				sys.Send(supervisor, RestoreRefused{Target: p.Target, Method: e.Method, Err: callError(r.Err, r.IsSent)})
			}
			if left.Add(-1) == 0 {
				done()
			}
		}})
	}
}

// command writes one CDP command; its outcome comes back as a message.
func command(c *guard.Context, mux *transport.Mux, own messages.SessionID, e effect.Command) {
	if e.Session != "" || e.IsOnRoot {
		own = e.Session
	}
	call := transport.Call{SessionID: own, Method: e.Method, Params: e.Params, Timeout: e.Timeout, IsDirect: e.IsDirect}
	if e.Tag.Kind != effect.TagNone {
		self, sys, tag := c.Self(), c.System(), e.Tag
		call.Done = func(r transport.Reply) {
			var err error
			if r.Err != nil {
				err = callError(r.Err, r.IsSent)
			}
			sys.Send(self, effect.Replied{Tag: tag, Result: r.Result, Err: err})
		}
	}
	mux.Start(call)
}

// LetGo resumes and leaves an out-of-process iframe on its supervisor's word.
func LetGo(mux *transport.Mux, a mail.TargetAttached) {
	for _, e := range effect.LeaveFrame(a.Via, a) {
		c := e.(effect.Command)
		mux.Start(transport.Call{SessionID: c.Session, Method: c.Method, Params: c.Params})
	}
}
