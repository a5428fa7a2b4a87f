package guard

import (
	"time"

	"holdfast/internal/smallmap"
)

// timer is one arming of a named timer. It is its own message: it is valid as
// long as it is the one in the table, so the pointer is the generation.
type timer struct {
	name string
	msg  any
	t    *time.Timer
}

func (p *proc) arm(name string, d time.Duration, msg any) {
	if !p.isLive() {
		return
	}
	p.disarm(name)
	tm := &timer{name: name, msg: msg}
	tm.t = time.AfterFunc(d, func() { p.tell(tm) })
	if p.timers == nil {
		p.timers = new(smallmap.Map[string, *timer])
	}
	p.timers.Set(name, tm)
}

func (p *proc) disarm(name string) {
	if tm := p.timers.At(name); tm != nil {
		tm.t.Stop()
		p.forgetTimer(tm)
	}
}

func (p *proc) forgetTimer(tm *timer) {
	if p.timers.Delete(tm.name); p.timers.Len() == 0 {
		p.timers = nil
	}
}

func (p *proc) handleTimer(tm *timer) {
	if p.timers.At(tm.name) != tm {
		return
	}
	p.forgetTimer(tm)
	p.receive(tm.msg)
}

func (p *proc) stopTimers() {
	for _, tm := range p.timers.All() {
		tm.t.Stop()
	}
	p.timers = nil
}
