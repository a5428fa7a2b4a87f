package link

import (
	"time"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// core is what the machines of both links have: what a step wants done, which pages are the
// task's, how far the link is attached, and the beginning of its end.
type core struct {
	cfg        Config
	out        []effect.Effect
	isAttached bool // every page that existed has been reported
	isLeaving  bool
	owned      ownership
	requests   bridge.Requests
	last       last
}

func newCore(cfg Config) core {
	return core{cfg: cfg, owned: newOwnership(cfg.Scope, cfg.Owned)}
}

// handle takes what is the same to both links, and says whether it was.
func (c *core) handle(in any) bool {
	switch in := in.(type) {
	case mail.ClientContexts:
		c.cfg.Contexts = in.IDs
		return true
	case effect.Replied:
		if in.Tag.Kind == TagPageLeft {
			c.do(effect.ToSupervisor{Msg: PageLeft{in.Tag.Page}})
			return true
		}
	case effect.TimerFired:
		if in.Timer.Name == timerLeave {
			c.do(effect.Exit{})
			return true
		}
	}
	return false
}

// Abandon returns the answers to calls that wait, of which there are none.
func (c *core) Abandon() []effect.Answer { return nil }

func (c *core) do(e effect.Effect) { c.out = append(c.out, e) }

// effects takes what is to be done: a machine that idles holds nothing of it.
func (c *core) effects() []effect.Effect {
	out := c.out
	c.out = nil
	return out
}

func (c *core) setTimer(name effect.TimerName, after time.Duration) {
	c.do(effect.Arm{Timer: effect.Timer{Name: name}, After: after})
}

func (c *core) dropTimer(name effect.TimerName) {
	c.do(effect.Disarm{Timer: effect.Timer{Name: name}})
}

// root writes a command on the browser's own session.
func (c *core) root(tag effect.Tag, method string, params any, timeout time.Duration) {
	c.do(effect.OnBrowser(tag, method, params, timeout))
}

// letGo resumes and leaves a page that is none of the task's.
func (c *core) letGo(a mail.TargetAttached) {
	for _, e := range c.owned.letGo(a) {
		c.do(e)
	}
}

// Know tells what the node's other tasks have to do with the targets that Asks has named.
// It is data of this moment, and replaces what was known before.
func (c *core) Know(others map[messages.TargetID]Others) { c.owned.others = others }
