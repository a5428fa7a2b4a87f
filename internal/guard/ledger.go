package guard

import (
	"cmp"
	"slices"
	"time"

	"github.com/anthdm/hollywood/actor"

	"holdfast/internal/smallmap"
)

// Messages about a child carry the pointer: one that is no longer in its parent's
// ledger was abandoned.

// deadline is one arming of a child's stop timeout, and its message.
type deadline struct {
	kid *proc
	t   *time.Timer
}

// childExited is the last message of a child.
type childExited struct {
	kid    *proc
	reason Reason
}

// childProgress is how a child that was asked to stop keeps its parent from
// giving it up: while it waits for its own children and Go functions, which
// have deadlines of their own, no code of it can hang.
type childProgress struct {
	kid       *proc
	isWaiting bool
}

func (p *proc) key() string { return p.spec.Key }

func (p *proc) ref() Ref { return Ref{PID: p.pid, Key: p.key(), Gen: p.gen} }

func (p *proc) spawnChild(child Child) Ref {
	child.check()
	if !p.isLive() {
		return Ref{}
	}
	if p.kids.At(child.Key) != nil {
		panic("guard: a " + child.Kind + " is spawned under the key of a living sibling")
	}
	c := p.sys.newProc(child)
	c.parent = p

	p.mu.Lock()
	if p.isAbandoned {
		p.mu.Unlock()
		return Ref{}
	}
	if p.kids == nil {
		p.kids = new(smallmap.Map[string, *proc])
	}
	p.kids.Set(child.Key, c)
	p.mu.Unlock()

	c.spawn()
	return c.ref()
}

func (p *proc) stopKid(k *proc) {
	if k.isStopped {
		return
	}
	k.isStopped = true
	p.armDeadline(k)
	k.tell(shutdown{})
}

func (p *proc) armDeadline(k *proc) {
	d := &deadline{kid: k}
	d.t = time.AfterFunc(p.sys.stopTimeout, func() { p.tell(d) })
	k.deadline = d
}

func (p *proc) disarmDeadline() {
	if p.deadline != nil {
		p.deadline.t.Stop()
		p.deadline = nil
	}
}

// stopKids shuts all children down at once, the newest first, in an order that
// is the same in every run.
func (p *proc) stopKids() {
	if p.kids.Len() == 0 {
		return
	}
	for _, k := range newestFirst(p.kids) {
		p.stopKid(k)
	}
}

func newestFirst(kids *smallmap.Map[string, *proc]) []*proc {
	list := make([]*proc, 0, kids.Len())
	for _, k := range kids.All() {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b *proc) int { return cmp.Compare(b.gen, a.gen) })
	return list
}

func (p *proc) handleChildProgress(m childProgress) {
	k := m.kid
	if p.kids.At(k.key()) != k {
		return
	}
	k.disarmDeadline()
	if !m.isWaiting {
		p.armDeadline(k) // it is in its Terminate now
	}
}

func (p *proc) handleChildExited(m childExited) {
	if p.kids.At(m.kid.key()) != m.kid {
		return // abandoned before
	}
	m.kid.disarmDeadline()
	p.forget(m.kid, m.reason)
}

func (p *proc) handleDeadline(d *deadline) {
	k := d.kid
	if p.kids.At(k.key()) != k || k.deadline != d {
		return
	}
	k.deadline = nil
	r := Reason{Kind: Abandoned, Err: ErrAbandoned}
	k.abandon(r)
	p.logger().Error("child abandoned", "child", k.spec.Kind, "child_key", k.key(), "after", p.sys.stopTimeout)
	p.forget(k, r)
}

// forget takes a child out of the ledger and tells the Behavior.
func (p *proc) forget(k *proc, r Reason) {
	p.mu.Lock()
	p.kids.Delete(k.key())
	p.mu.Unlock()
	if p.phase == running {
		p.receive(Exited{Key: k.key(), PID: k.pid, Gen: k.gen, Reason: r})
	}
}

// abandon is called by the parent, while p hangs in its own code. It does what needs no
// goroutine of p: no message reaches p any more, its Go functions are cancelled, its
// children shut down. If p ever returns, it finds the shutdown in its mailbox and ends
// unnoticed.
func (p *proc) abandon(r Reason) {
	p.sys.exits.add(p.gen, time.Now())
	p.sys.unregister(p)
	p.mu.Lock()
	p.isAbandoned = true
	kept := p.errands.cancelAll()
	kids := newestFirst(p.kids)
	p.mu.Unlock()
	p.letGoAll(kept)
	for _, k := range kids {
		k.tell(shutdown{})
	}
	p.report(r)
}

// tell puts an internal message into the mailbox, past the registry: so a
// message to an actor that has just gone is garbage and not a dead letter.
// It is counted, and never refused: there are few, and each has to be heard.
func (p *proc) tell(msg any) {
	p.mail.waiting.Add(1)
	p.put(actor.Envelope{Msg: msg}, nil)
}
