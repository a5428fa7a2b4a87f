package guard

import (
	"context"
	"log/slog"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/messages/mail"
)

// Context is an actor's hold on the world. It belongs to the actor's
// goroutine: only methods of the Behavior may use it, and only while they run.
type Context struct{ p *proc }

// Self returns the actor's own address.
func (c *Context) Self() *actor.PID { return c.p.pid }

// Parent returns the parent's address, nil for a root.
func (c *Context) Parent() *actor.PID {
	if c.p.parent == nil {
		return nil
	}
	return c.p.parent.pid
}

// Key returns the actor's key among its siblings.
func (c *Context) Key() string { return c.p.spec.Key }

// Gen returns the actor's generation; it is the Gen of its Ref.
func (c *Context) Gen() uint64 { return c.p.gen }

// Log returns a logger that names the actor.
func (c *Context) Log() *slog.Logger { return c.p.logger() }

// System returns what all actors of the node share. Unlike the Context it may
// be kept and used anywhere.
func (c *Context) System() *System { return c.p.sys }

// Answer answers a call; see [call.Table.Answer].
func (c *Context) Answer(to mail.Call, value any, err error) { c.p.sys.calls.Answer(to, value, err) }

// Now returns the time, for the machine's Step.
func (c *Context) Now() time.Time { return time.Now() }

// Sender returns who sent the message being received; nil for messages of
// the outside, timers, results and exits.
func (c *Context) Sender() *actor.PID { return c.p.sender }

// Send sends msg with this actor as the sender. To nil it does nothing.
func (c *Context) Send(to *actor.PID, msg any) {
	if to == nil {
		return
	}
	if p := c.p.sys.procs.load(to); p != nil {
		p.deliver(msg, c.p.pid, c.p.handing())
		return
	}
	c.p.sys.engine.SendWithSender(to, msg, c.p.pid)
}

// SendSeveral is Send for a message that stands for so many.
func (c *Context) SendSeveral(to *actor.PID, msg any, count int) {
	if p := c.p.sys.procs.load(to); p != nil && count > 1 {
		p.deliverSeveral(several{msg, int64(count)}, c.p.pid, c.p.handing())
		return
	}
	c.Send(to, msg)
}

// Respond answers the message being received, if it has a sender.
func (c *Context) Respond(msg any) { c.Send(c.p.sender, msg) }

// Spawn starts a child. Its end comes as an Exited message. Two living
// children under one key are a bug: Spawn panics, ask Child before. Nothing is
// started while the actor is ending.
func (c *Context) Spawn(child Child) Ref { return c.p.spawnChild(child) }

// Stop asks a child to shut down; its Exited follows in any case, with reason
// Abandoned when it does not comply in time.
func (c *Context) Stop(key string) {
	if k := c.p.kids.At(key); k != nil {
		c.p.stopKid(k)
	}
}

// Child returns the living child with the key, whether it was told to stop or
// not.
func (c *Context) Child(key string) (Ref, bool) {
	if k := c.p.kids.At(key); k != nil {
		return k.ref(), true
	}
	return Ref{}, false
}

// Exit ends the actor after the current message: children are shut down and Go
// functions cancelled, then Terminate gets r. The first Exit counts.
func (c *Context) Exit(r Reason) {
	if c.p.isLive() && !c.p.isExiting {
		c.p.isExiting, c.p.end = true, &r
	}
}

// After delivers msg to Receive after d, unless the name is cancelled or armed
// again before it is received: a firing that was overtaken in the mailbox is
// dropped too.
func (c *Context) After(name string, d time.Duration, msg any) { c.p.arm(name, d, msg) }

// Cancel disarms the named timer. It is fine when there is none.
func (c *Context) Cancel(name string) { c.p.disarm(name) }

// Go runs fn on a goroutine of its own and delivers its result, unless it is nil, to
// Receive. The context is cancelled when the actor ends, when GoCancel is called, or when
// Go is called again under the name; the result is dropped then (see Discarder). fn must
// return soon after: the actor does not exit before, or before StopTimeout has passed. A
// panic in fn is the actor's. See [Kept] for a result that has to be released at the end.
func (c *Context) Go(name string, fn func(context.Context) any) { c.p.goTask(name, fn) }

// GoCancel cancels the named Go function and drops its result.
func (c *Context) GoCancel(name string) { c.p.supersede(name) }
