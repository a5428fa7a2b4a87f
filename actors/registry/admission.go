package registry

import (
	"time"

	"holdfast/internal/pressure"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Inputs about admission (requirements X4, X5).
type (
	// SetLimits replaces the limits. Running tasks continue. The reply is nil.
	SetLimits struct {
		Limits messages.Limits
		Reply  mail.Call
	}

	// Drain ends admission for good: no task starts, and waiting ones are refused.
	Drain struct{}

	// Measured is how much of the machine is in use.
	Measured struct{ Sample pressure.Sample }

	// QueueDue says that the moment of the last [Wake] has come.
	QueueDue struct{}
)

// ReplyTo is the call that waits for the answer.
func (s SetLimits) ReplyTo() mail.Call { return s.Reply }

// Effects about admission.
type (
	// Admit tells a caller that its start does not wait any more.
	Admit struct{ To mail.Call }

	// Waited says how long a start stood in the queue before it began.
	Waited struct{ For time.Duration }

	// Rejected says that a caller was refused; its Answer follows.
	Rejected struct{ Reason messages.LimitReason }

	// GateChanged says that a resource came to be too much in use, or not any more,
	// or, once, that it cannot be read.
	GateChanged struct {
		Resource messages.LimitReason
		Load     messages.Load
		Err      error
	}

	// Wake asks for a [QueueDue] at that moment, and not at the one before.
	Wake struct{ At time.Time }
)

// admission decides which tasks may start, and which wait.
//
// A task holds a place from its start until its supervisor has exited, and with it its
// links and its browser; a task that is rebound, or started again while it stops, keeps its
// place. A lost task has none.
//
// The queue is first come, first served, with one exception: a start that lacks nothing but
// a browser's place lets those pass that attach to a browser of their own. It loses nothing
// by it: a browser's place comes free together with a task's, and goes to the start that
// has waited longest.
type admission struct {
	limits     messages.Limits
	memory     gate
	cpu        gate
	isDraining bool
	queue      queue
	browsers   int // places of browsers that are taken
	ends       ends
	wake       time.Time // the last one asked for
}

func newAdmission(l messages.Limits) admission {
	var a admission
	a.set(l)
	return a
}

func (a *admission) set(l messages.Limits) {
	a.limits = l.WithDefaults()
	a.memory.set(a.limits.MemoryHigh, a.limits.MemoryLow)
	a.cpu.set(a.limits.CPUHigh, a.limits.CPULow)
}

// lacks is what a start cannot have now, "" when nothing is in its way.
func (m *Machine) lacks(spec messages.TaskSpec) messages.LimitReason {
	switch {
	case len(m.tasks) >= m.limits.MaxTasks:
		return messages.LimitTasks
	case m.memory.isShut:
		return messages.LimitMemory
	case m.cpu.isShut:
		return messages.LimitCPU
	case spec.Launch != nil && m.admission.browsers >= m.limits.MaxBrowsers:
		return messages.LimitBrowsers
	}
	return ""
}

// enter starts a task that is not there, has it wait, or refuses it.
func (m *Machine) enter(now time.Time, o mail.StartTask, asked messages.TaskSpec) {
	if m.isDraining {
		m.reject(now, o.Reply, messages.LimitDraining, "")
		return
	}
	if o.Resumed != nil {
		if lacks := m.lacks(asked.WithDefaults()); lacks != "" {
			m.reject(now, o.Reply, lacks, "")
			return
		}
		m.resume(now, o, asked.WithDefaults())
		return
	}
	waits := m.patience(o)
	if e := m.queue.find(o.ID); e != nil {
		m.join(now, e, o, asked, waits)
		return
	}
	// Every waiting start lacks something (see pump): none of this kind is passed over.
	spec := asked.WithDefaults()
	lacks := m.lacks(spec)
	switch {
	case m.isOverQuota(o.ID):
		m.reject(now, o.Reply, messages.LimitQuota, "")
	case lacks == "":
		m.do(Admit{o.Admitted})
		m.spawn(now, o.ID, spec, []waiter{{o.Reply, true}})
	case waits == 0 || m.limits.QueueLength < 0:
		m.reject(now, o.Reply, lacks, "")
	case len(m.queue) >= m.limits.QueueLength:
		m.reject(now, o.Reply, messages.LimitQueueFull, lacks)
	default:
		m.queue = append(m.queue, &entry{id: o.ID, spec: spec, since: now, callers: []caller{{o, now.Add(waits)}}})
	}
}

// isOverQuota says whether a task would be one too many of its tenant's. What waits
// counts: or one tenant could fill the queue with what it may not run.
func (m *Machine) isOverQuota(id messages.TaskID) bool {
	tenant := id.Tenant()
	if m.limits.MaxTenantTasks <= 0 || tenant == "" {
		return false
	}
	n := 0
	for other := range m.tasks {
		if other.Tenant() == tenant {
			n++
		}
	}
	for _, e := range m.queue {
		if e.id.Tenant() == tenant {
			n++
		}
	}
	return n >= m.limits.MaxTenantTasks
}

// patience is how long a caller waits for a place at most.
func (m *Machine) patience(o mail.StartTask) time.Duration {
	if q := o.Spec.QueueTimeoutS; q != nil {
		return min(time.Duration(*q*float64(time.Second)), m.limits.QueueTimeout)
	}
	return m.limits.QueueTimeout
}

// join has a caller wait along with those who asked for the same task before.
// One who asks for another browser supersedes them, at their place; who does not
// want to wait changes nothing.
func (m *Machine) join(now time.Time, e *entry, o mail.StartTask, asked messages.TaskSpec, waits time.Duration) {
	spec := e.spec.Merge(asked)
	same := spec.IsSameBrowser(e.spec)
	if !same {
		spec = asked.WithDefaults()
	}
	if lacks := m.lacks(spec); waits == 0 && lacks != "" {
		m.reject(now, o.Reply, lacks, "")
		return
	}
	if !same {
		for _, c := range e.callers {
			m.do(Answer{To: c.order.Reply, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "superseded by a later start with another browser")})
		}
		e.callers = nil
	}
	e.spec = spec
	e.callers = append(e.callers, caller{o, now.Add(waits)})
}

// pump starts every task that can start, and arms the next deadline. It ends every step: a
// start that is left in the queue lacks something.
func (m *Machine) pump(now time.Time) {
	for i := 0; i < len(m.queue); {
		e := m.queue[i]
		if lacks := m.lacks(e.spec); lacks == messages.LimitBrowsers {
			i++
			continue
		} else if lacks != "" {
			break // so do all
		}
		m.queue.remove(e)
		m.do(Waited{now.Sub(e.since)})
		waiters := make([]waiter, len(e.callers))
		for n, c := range e.callers {
			waiters[n] = waiter{c.order.Reply, n == 0}
			m.do(Admit{c.order.Admitted})
		}
		m.spawn(now, e.id, e.spec, waiters)
	}
	if at := m.queue.deadline(); !at.Equal(m.wake) {
		m.wake = at
		if !at.IsZero() {
			m.do(Wake{at})
		}
	}
}

// queueDue refuses those who have waited for as long as they would.
func (m *Machine) queueDue(now time.Time) {
	m.wake = time.Time{} // it has come
	for _, d := range m.queue.leave(func(_ *entry, c caller) bool { return !c.deadline.After(now) }) {
		m.reject(now, d.caller.order.Reply, messages.LimitQueueDeadline, m.lacks(d.entry.spec))
	}
}

// abandon takes a caller out of the queue who has gone.
func (m *Machine) abandon(a mail.AbandonStart) {
	for _, d := range m.queue.leave(func(e *entry, c caller) bool { return e.id == a.ID && c.order.Ticket == a.Ticket }) {
		m.do(Answer{To: d.caller.order.Reply, Err: messages.Errorf(messages.CodeDeadline, "the caller went away")})
	}
}

// unqueue ends a start that waits, for all its callers.
func (m *Machine) unqueue(id messages.TaskID, why string) {
	for _, d := range m.queue.leave(func(e *entry, _ caller) bool { return e.id == id }) {
		m.do(Answer{To: d.caller.order.Reply, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "%s", why)})
	}
}

// NeedsMeasures says whether anything is decided by how much is in use.
func (m *Machine) NeedsMeasures() bool { return m.memory.isOn() || m.cpu.isOn() }

func (m *Machine) measured(in Measured) {
	look := func(what messages.LimitReason, g *gate, l pressure.Level) {
		if g.hasNews(l) {
			m.do(GateChanged{what, g.load(), l.Err})
		}
	}
	look(messages.LimitMemory, &m.memory, in.Sample.Memory)
	look(messages.LimitCPU, &m.cpu, in.Sample.CPU)
}

func (m *Machine) drain(now time.Time) {
	if m.isDraining {
		return
	}
	m.isDraining = true
	for _, d := range m.queue.leave(func(*entry, caller) bool { return true }) {
		m.reject(now, d.caller.order.Reply, messages.LimitDraining, "")
	}
}

// setLimits takes new limits. The idle timeout and the maximum life of what runs
// are not shortened by it.
func (m *Machine) setLimits(s SetLimits) {
	m.set(s.Limits)
	for _, t := range m.tasks {
		t.idle, t.life = max(t.idle, m.limits.IdleTimeout), max(t.life, m.limits.MaxLife)
	}
	m.do(Answer{To: s.Reply})
}

// mayReplace says whether a task can be started anew with that spec at the place
// it has; if not the caller has its answer. It never waits: the place that is
// missing is a browser's, and the task that would have to wait for it runs.
func (m *Machine) mayReplace(now time.Time, t *task, spec messages.TaskSpec, reply mail.Call) bool {
	why := messages.LimitReason("")
	switch {
	case m.isDraining:
		why = messages.LimitDraining
	case spec.Launch == nil || t.needsBrowser():
	case m.memory.isShut:
		why = messages.LimitMemory
	case m.cpu.isShut:
		why = messages.LimitCPU
	case m.admission.browsers >= m.limits.MaxBrowsers:
		why = messages.LimitBrowsers
	}
	if why != "" {
		m.reject(now, reply, why, "")
	}
	return why == ""
}

// needsBrowser says whether a task holds a browser's place: for the browser it has
// launched, or for the one that it will have next.
func (t *task) needsBrowser() bool {
	return t != nil && (t.spec.Launch != nil || t.next != nil && t.next.spec.Launch != nil)
}

// change does something to a task and keeps the count of browsers' places.
func (m *Machine) change(t *task, do func()) {
	before := t.needsBrowser()
	do()
	switch after := t.needsBrowser(); {
	case after && !before:
		m.admission.browsers++
	case before && !after:
		m.admission.browsers--
	}
}
