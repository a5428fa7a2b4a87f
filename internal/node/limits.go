package node

import (
	"context"
	"time"

	"holdfast/actors/registry"
	"holdfast/internal/pressure"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Limits are the bounds a node holds its tasks to; see [messages.Limits] for
// what 0 and below 0 mean.
type Limits = messages.Limits

// SetLimits replaces all limits of the node: a limit of 0 takes its default again. Running
// tasks continue, with an idle timeout and a maximum life no shorter than before; waiting
// tasks that now have a place start.
func (n *Node) SetLimits(l Limits) error {
	if err := l.Validate(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerBudget)
	defer cancel()
	_, err := n.ask(ctx, nil, func(r mail.Call) {
		n.sys.Send(n.registry.PID(), registry.SetLimits{Limits: n.fit(l), Reply: r})
	})
	return err
}

// fit completes limits with what depends on the machine.
func (n *Node) fit(l Limits) Limits {
	if l.MaxBrowsers == 0 {
		l.MaxBrowsers = messages.DefaultMaxBrowsers(n.measure().Memory.Limit)
	}
	return l
}

func (n *Node) measure() pressure.Sample {
	if n.cfg.Measure != nil {
		return n.cfg.Measure()
	}
	return pressure.Take()
}

// BeginDrain ends admission for good: the node is not ready, and a task that does not run
// or waits for a place is refused. Running tasks continue. It does not wait, and may be
// called more than once.
func (n *Node) BeginDrain() {
	if n.draining.Swap(true) {
		return
	}
	n.sys.Send(n.registry.PID(), registry.Drain{})
}

// Pressure says how close the node is to its limits. It never waits.
func (n *Node) Pressure() messages.Pressure {
	p := n.gauge.Pressure(time.Now())
	if n.draining.Load() {
		p.Draining, p.Available, p.Reason = true, false, messages.LimitDraining
	}
	return p
}
