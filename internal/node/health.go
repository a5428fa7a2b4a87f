package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"holdfast/actors/registry"
	"holdfast/internal/browser"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport"
)

// The names of a node's checks.
const (
	checkDraining = "draining"
	checkCapacity = "capacity"
	checkMemory   = "memory"
	checkBrowser  = "browser"
	checkSockets  = "sockets"
)

// Alive asks the registry for a sign of life, by way of its mailbox: no browser
// and no page can hold it up. Who asks while another does shares its answer, so
// that a storm of probes costs one message.
func (n *Node) Alive(ctx context.Context) error {
	b := n.pulse.ask(n.sys.Calls(), func(r mail.Call) { n.sys.Send(n.registry.PID(), registry.Ping{Reply: r}) })
	select {
	case <-b.done:
		return b.err
	case <-n.registry.Exited():
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the registry has ended: %s", n.registry.Reason())
	case <-ctx.Done():
		return messages.Errorf(messages.CodeDeadline, "the registry does not answer")
	}
}

// Ready says why no new task can be taken, or nil; the error's details hold the
// checks. It never waits.
func (n *Node) Ready() error {
	select {
	case <-n.registry.Exited():
		return messages.Errorf(messages.CodeInternal, "the registry has ended: %s", n.registry.Reason())
	default:
	}
	checks := n.Checks()
	for _, c := range checks {
		if !c.OK && !c.Advisory {
			return messages.Errorf(messages.CodeUpstreamUnavailable, "not ready for new tasks: %s", c.Reason).With("checks", checks)
		}
	}
	return nil
}

// Checks are the parts of the node's readiness, besides that it is alive. They
// never wait.
//
// A node that is full, but has room in its queue, is ready: that is what the
// queue is for. It is not once a start would be refused.
func (n *Node) Checks() []messages.Check {
	s := n.gauge.Status()
	check := func(name string, bad bool, reason string) messages.Check {
		if bad {
			return messages.Check{Name: name, Reason: reason}
		}
		return messages.Check{Name: name, OK: true}
	}
	advise := func(c messages.Check) messages.Check {
		c.Advisory = true
		return c
	}
	return []messages.Check{
		check(checkDraining, n.draining.Load() || n.stopping.Load(), "the node is about to stop"),
		check(checkCapacity, s.IsFull && !s.IsDraining, n.fullness()),
		n.socketsCheck(time.Now()),
		advise(check(checkMemory, s.Memory.State == messages.LoadHigh, "too much memory is in use")),
		advise(check(checkBrowser, !n.hasBrowser(time.Now()), "there is no browser to launch")),
	}
}

// fullness says how full the node is, in numbers.
func (n *Node) fullness() string {
	p := n.Pressure()
	return fmt.Sprintf("full: %d of %d tasks run, %d of %d browsers are launched, %d of %d starts wait",
		p.Running, p.Limits.Tasks, p.Browsers, p.Limits.Browsers, p.Queued, p.Limits.QueueLength)
}

// hasBrowser says whether there is one to launch. It looks every now and then:
// probes come often, and browsers are not installed every second.
func (n *Node) hasBrowser(now time.Time) bool {
	if !n.cfg.CDPURLOverride.IsZero() {
		return true // none is needed
	}
	n.found.mu.Lock()
	defer n.found.mu.Unlock()
	if n.found.at.IsZero() || now.Sub(n.found.at) > lookEvery {
		_, err := browser.Find(n.cfg.ChromePath)
		n.found.at, n.found.ok = now, err == nil
	}
	return n.found.ok
}

// shortage is a dial that failed for want of something of the node's own.
type shortage struct {
	at time.Time
	of transport.Shortage
}

// shortageLasts is how long a node is not ready after a dial that failed for want of
// something of its own: a start would most likely fail for the same.
const shortageLasts = 10 * time.Second

func (n *Node) socketsCheck(now time.Time) messages.Check {
	if s := n.short.Load(); s != nil && now.Sub(s.at) < shortageLasts {
		return messages.Check{Name: checkSockets, Reason: s.of.Sentence()}
	}
	return messages.Check{Name: checkSockets, OK: true}
}

const lookEvery = 30 * time.Second

// found is what the last look for a browser found.
type found struct {
	mu sync.Mutex
	at time.Time
	ok bool
}
