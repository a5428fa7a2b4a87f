package registry

import (
	"errors"
	"maps"
	"slices"
	"time"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// Inputs of the machine besides messages.
type (
	// SupervisorExited says that a supervisor is gone; Err is nil when it was
	// asked to go.
	SupervisorExited struct {
		ID  messages.TaskID
		Gen uint64
		Err error
	}

	// Sweep looks for tasks that are unused or too old. IdleFor says how long a task has
	// not been used.
	Sweep struct {
		IdleFor func(messages.TaskID) time.Duration
	}
)

// Effects of the machine.
type (
	// Effect is anything the machine wants done.
	Effect any

	// SpawnSupervisor starts a task under a new board.
	SpawnSupervisor struct {
		ID      messages.TaskID
		Gen     uint64
		Spec    *messages.TaskSpec // never written
		Resumed *mail.Resumed      // nil for a task that begins
	}

	// ToSupervisor is an order to a task's supervisor.
	ToSupervisor struct {
		ID  messages.TaskID
		Msg any
	}

	// Forget takes a task's board out of the directory.
	Forget struct {
		ID     messages.TaskID
		IsOver bool // for want of room alone
	}

	// Began says how long a task took from its start until it was active.
	Began struct {
		IsLaunched bool
		Took       time.Duration
	}

	// Answer replies to the caller of an order.
	Answer struct {
		To    mail.Call
		Value any
		Err   error
	}
)

// MaxEnded bounds the tasks that are kept only to say how they ended.
const MaxEnded = 1000

// Machine decides over the tasks of one node.
type Machine struct {
	admission
	override messages.CDPURL
	gen      uint64
	isLapsed bool                      // the node may not decide for its tasks
	tasks    map[messages.TaskID]*task // that have a supervisor
	standbys map[messages.TaskID]*standby
	ended    []messages.TaskID // oldest first
	out      []Effect
}

type task struct {
	gen        uint64
	spec       *messages.TaskSpec // never written: its supervisor has it too
	started    time.Time
	idle       time.Duration // of a task whose spec says nothing
	life       time.Duration // likewise
	isActive   bool
	isStopping bool
	isWithheld bool // the node may not decide for it, whatever its lease
	waiters    []waiter
	stoppers   []mail.Call
	next       *next // what follows once this one has ended
}

type waiter struct {
	reply      mail.Call
	hasStarted bool
}

type next struct {
	spec    messages.TaskSpec
	waiters []waiter
}

// NewMachine returns a registry without tasks. Where override is not zero
// every task attaches there, whatever its spec says (requirement A7).
func NewMachine(limits messages.Limits, override messages.CDPURL) *Machine {
	return &Machine{admission: newAdmission(limits), override: override, tasks: map[messages.TaskID]*task{}, standbys: map[messages.TaskID]*standby{}}
}

// Step takes one input and returns what is to be done, in order.
func (m *Machine) Step(now time.Time, in any) []Effect {
	m.out = nil
	switch in := in.(type) {
	case mail.StartTask:
		m.start(now, in)
	case mail.StopTask:
		m.stop(in)
	case mail.TaskActive:
		m.becomeActive(now, in)
	case mail.TaskEnding:
		m.ending(in)
	case SupervisorExited:
		m.exited(now, in)
	case Sweep:
		m.sweep(now, in)
	case Lease:
		m.lease(in)
	case StartStandby:
		m.startStandby(in)
	case RespecStandby:
		m.respecStandby(in)
	case StopStandby:
		m.stopStandby(in)
	case PromoteStandby:
		m.promoteStandby(now, in)
	case StandbyExited:
		m.standbyExited(now, in)
	case Lose:
		m.lose(in)
	case mail.AbandonStart:
		m.abandon(in)
	case QueueDue:
		m.queueDue(now)
	case Measured:
		m.measured(in)
	case SetLimits:
		m.setLimits(in)
	case Drain:
		m.drain(now)
	}
	m.pump(now)
	return m.out
}

func (m *Machine) do(e Effect) { m.out = append(m.out, e) }

// Running is how many tasks have a supervisor.
func (m *Machine) Running() int { return len(m.tasks) }

func (m *Machine) start(now time.Time, o mail.StartTask) {
	asked := o.Spec
	asked.QueueTimeoutS = nil            // of this start, not of the task
	if s := m.standbys[o.ID]; s != nil { // two supervisors of a task have one name
		s.starts = append(s.starts, o)
		m.endStandby(o.ID, s)
		return
	}
	if !m.override.IsZero() {
		asked.CDPURL, asked.Launch = m.override, nil
	}
	if err := m.permit(o, asked); err != nil {
		m.do(Admit{o.Admitted})
		m.do(Answer{To: o.Reply, Err: err})
		return
	}
	t := m.tasks[o.ID]
	if t == nil {
		m.enter(now, o, asked)
		return
	}
	m.do(Admit{o.Admitted})
	if t.isStopping {
		m.hasAdmittedNext(now, t, asked, o.Reply)
		return
	}
	merged := t.spec.Merge(asked)
	if err := merged.Validate(); err != nil {
		m.do(Answer{To: o.Reply, Err: err}) // each is right, and both together are not
		return
	}
	if !merged.IsSameBrowser(*t.spec) {
		// Another browser: nothing of the old state may show in it (A4).
		if m.hasAdmittedNext(now, t, asked, o.Reply) {
			m.stopTask(o.ID, t, messages.OutcomeRebound, "rebound to another browser")
		}
		return
	}
	t.spec = &merged
	m.do(ToSupervisor{o.ID, mail.UpdateSpec{Spec: merged}})
	if t.isActive {
		m.do(Answer{To: o.Reply, Value: mail.StartOutcome{}})
		return
	}
	t.waiters = append(t.waiters, waiter{o.Reply, false}) // the race of A3: the first one starts, all wait
}

// hasAdmittedNext has a start follow a supervisor that is stopping, at the same place. A request
// for the same joins it; a request for another supersedes it. False says that it was
// refused.
func (m *Machine) hasAdmittedNext(now time.Time, t *task, asked messages.TaskSpec, reply mail.Call) bool {
	spec := asked.WithDefaults()
	if t.next != nil && t.next.spec.IsSameBrowser(spec) {
		t.next.waiters = append(t.next.waiters, waiter{reply, false})
		return true
	}
	if !m.mayReplace(now, t, spec, reply) {
		return false
	}
	m.dropNext(t, "superseded by a later start with another browser")
	m.change(t, func() { t.next = &next{spec: spec, waiters: []waiter{{reply, true}}} })
	return true
}

func (m *Machine) dropNext(t *task, why string) {
	if t.next == nil {
		return
	}
	for _, w := range t.next.waiters {
		m.do(Answer{To: w.reply, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "%s", why)})
	}
	m.change(t, func() { t.next = nil })
}

func (m *Machine) spawn(now time.Time, id messages.TaskID, spec messages.TaskSpec, waiters []waiter) {
	t := m.newTask(now, spec)
	t.waiters = waiters
	m.tasks[id] = t
	if spec.Launch != nil {
		m.admission.browsers++
	}
	m.ended = slices.DeleteFunc(m.ended, func(e messages.TaskID) bool { return e == id })
	m.do(SpawnSupervisor{ID: id, Gen: t.gen, Spec: t.spec})
	if m.isLapsed {
		m.do(ToSupervisor{id, mail.Lease{}})
	}
}

// withPatience is a spec with the node's patience, where it has none of its own.
func (m *Machine) withPatience(spec messages.TaskSpec) messages.TaskSpec {
	if spec.GiveUpAfterS == 0 {
		spec.GiveUpAfterS = m.limits.GiveUpAfter.Seconds()
	}
	return spec
}

// newTask makes the next task of the registry.
func (m *Machine) newTask(now time.Time, spec messages.TaskSpec) *task {
	m.gen++
	spec = m.withPatience(spec)
	return &task{gen: m.gen, spec: &spec, started: now, idle: m.limits.IdleTimeout, life: m.limits.MaxLife}
}

// resume has a task go on that another node had. It counts as attached: a browser that cannot be
// reached now may be later.
func (m *Machine) resume(now time.Time, o mail.StartTask, spec messages.TaskSpec) {
	m.do(Admit{o.Admitted})
	m.spawn(now, o.ID, spec, nil)
	t := m.tasks[o.ID]
	t.isActive, t.isWithheld = true, o.Resumed.IsWithheld
	for i, e := range m.out {
		if s, ok := e.(SpawnSupervisor); ok && s.Gen == t.gen {
			s.Resumed = o.Resumed
			m.out[i] = s
		}
	}
	m.do(Answer{To: o.Reply, Value: mail.StartOutcome{HasStarted: true}})
}

func (m *Machine) stop(o mail.StopTask) {
	t := m.tasks[o.ID]
	if t == nil {
		m.unqueue(o.ID, "stopped while it waited for a place")
		m.do(Answer{To: o.Reply})
		if i := slices.Index(m.ended, o.ID); i >= 0 && o.Reason == "" {
			m.do(Acknowledge{o.ID})
		}
		return
	}
	m.dropNext(t, "stopped while starting")
	t.stoppers = append(t.stoppers, o.Reply)
	m.stopTask(o.ID, t, o.Outcome, o.Reason)
}

// Acknowledge takes a lost task off the list: a caller has seen it.
type Acknowledge struct{ ID messages.TaskID }

func (m *Machine) stopTask(id messages.TaskID, t *task, outcome messages.TaskOutcome, why string) {
	if t.isStopping {
		return
	}
	t.isStopping = true
	m.do(ToSupervisor{id, mail.StopTask{ID: id, Reason: why, Outcome: outcome}})
}

func (m *Machine) becomeActive(now time.Time, a mail.TaskActive) {
	t := m.tasks[a.ID]
	if t == nil || t.gen != a.Gen {
		return
	}
	if !t.isActive {
		t.isActive = true
		m.do(Began{IsLaunched: t.spec.Launch != nil, Took: now.Sub(t.started)})
	}
	for _, w := range t.waiters {
		m.do(Answer{To: w.reply, Value: mail.StartOutcome{HasStarted: w.hasStarted}})
	}
	t.waiters = nil
}

// ending notes that a supervisor ends by itself. Its browser may take a moment to go, and
// a caller that has seen the task lost starts it again meanwhile: that is a start anew.
func (m *Machine) ending(e mail.TaskEnding) {
	if t := m.tasks[e.ID]; t != nil && t.gen == e.Gen {
		t.isStopping = true
	}
}

func (m *Machine) exited(now time.Time, e SupervisorExited) {
	t := m.tasks[e.ID]
	if t == nil || t.gen != e.Gen {
		return
	}
	delete(m.tasks, e.ID)
	if t.needsBrowser() {
		m.admission.browsers--
	}
	if !t.isActive && t.next == nil {
		m.do(Forget{ID: e.ID}) // it never was, and a caller that gets the answer below finds it gone
	}
	for _, w := range t.waiters {
		m.do(Answer{To: w.reply, Err: startError(e.Err)})
	}
	for _, reply := range t.stoppers {
		m.do(Answer{To: reply})
	}
	if t.next != nil {
		m.spawn(now, e.ID, t.next.spec, t.next.waiters)
		return
	}
	m.ends.add(now)
	if !t.isActive {
		return
	}
	m.ended = append(m.ended, e.ID)
	if len(m.ended) > MaxEnded {
		m.do(Forget{ID: m.ended[0], IsOver: true})
		m.ended = slices.Clone(m.ended[1:])
	}
}

// startError is what a start gets whose supervisor ended first (A15).
func startError(err error) error {
	var own *messages.Error
	switch {
	case err == nil:
		return messages.Errorf(messages.CodeUpstreamUnavailable, "stopped while starting")
	case errors.As(err, &own):
		return own
	}
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the task did not start: %s", err)
}

func (m *Machine) sweep(now time.Time, s Sweep) {
	if m.isLapsed {
		return
	}
	for _, id := range m.ids() {
		t := m.tasks[id]
		if t.isStopping || t.isWithheld {
			continue
		}
		if life := orDefault(t.spec.MaxLifeS, t.life); now.Sub(t.started) > life {
			m.stopTask(id, t, messages.OutcomeMaxLife, "reached its maximum life of "+life.String())
		} else if idle := orDefault(t.spec.IdleTimeoutS, t.idle); len(t.waiters) == 0 && s.IdleFor(id) > idle {
			m.stopTask(id, t, messages.OutcomeIdle, "was not used for "+idle.String())
		}
	}
}

func orDefault(seconds float64, d time.Duration) time.Duration {
	if seconds == 0 {
		return d
	}
	return time.Duration(seconds * float64(time.Second))
}

// end answers every waiting caller when the registry itself ends.
func (m *Machine) end() []Effect {
	m.out = nil
	for _, d := range m.queue.leave(func(*entry, caller) bool { return true }) {
		m.do(Answer{To: d.caller.order.Reply, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "the node has stopped")})
	}
	for _, id := range m.ids() {
		t := m.tasks[id]
		m.dropNext(t, "the node has stopped")
		for _, w := range t.waiters {
			m.do(Answer{To: w.reply, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "the node has stopped")})
		}
		for _, reply := range t.stoppers {
			m.do(Answer{To: reply})
		}
	}
	for _, s := range m.standbys {
		m.answerStandby(s)
	}
	clear(m.tasks)
	return m.out
}

func (m *Machine) ids() []messages.TaskID { return slices.Sorted(maps.Keys(m.tasks)) }
