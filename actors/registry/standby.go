package registry

import (
	"time"

	"holdfast/actors/supervisor/view"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Orders about the tasks of other nodes that this one has a standby of. Such a supervisor has no
// place, and its board is in no directory.
type (
	// StartStandby begins a standby. The answer is the board that shows it.
	StartStandby struct {
		ID      messages.TaskID
		Spec    messages.TaskSpec
		Resumed mail.Resumed
		Reply   mail.Call
	}

	// StopStandby ends it. The reply is nil, once it has left its pages.
	StopStandby struct {
		ID    messages.TaskID
		Reply mail.Call
	}

	// PromoteStandby has it take the task over, which this node has by now.
	PromoteStandby struct {
		ID     messages.TaskID
		Memory mail.TaskMemory
		Reply  mail.Call
	}

	// RespecStandby gives it another spec of the same browser.
	RespecStandby struct {
		ID   messages.TaskID
		Spec messages.TaskSpec
	}

	// ToStandby is a message for it.
	ToStandby struct {
		ID  messages.TaskID
		Msg any
	}

	// StandbyExited says that its supervisor is gone.
	StandbyExited struct {
		ID  messages.TaskID
		Gen uint64
	}
)

// Effects about standbys.
type (
	// SpawnStandby starts one.
	SpawnStandby struct {
		ID      messages.TaskID
		Gen     uint64
		Spec    *messages.TaskSpec // never written
		Resumed *mail.Resumed
		Reply   mail.Call
	}

	// Promote makes it a task of this node.
	Promote struct {
		ID     messages.TaskID
		Spec   *messages.TaskSpec
		Memory mail.TaskMemory
		Reply  mail.Call
	}
)

// ReplyTo is the call that waits for the answer.
func (s StartStandby) ReplyTo() mail.Call { return s.Reply }

// ReplyTo is the call that waits for the answer.
func (s StopStandby) ReplyTo() mail.Call { return s.Reply }

// ReplyTo is the call that waits for the answer.
func (p PromoteStandby) ReplyTo() mail.Call { return p.Reply }

// standby is the supervisor of a task that another node has.
type standby struct {
	task       *task
	isStopping bool
	stoppers   []mail.Call
	starts     []mail.StartTask // of the task itself, which wait for its end
}

func (m *Machine) startStandby(s StartStandby) {
	if m.isDraining || m.tasks[s.ID] != nil || m.standbys[s.ID] != nil {
		m.do(Answer{To: s.Reply, Err: messages.Errorf(messages.CodeLimitReached, "the node has something of the task")})
		return
	}
	spec := s.Spec.WithDefaults()
	if !m.override.IsZero() {
		spec.CDPURL, spec.Launch = m.override, nil
	}
	t := m.newTask(time.Time{}, spec)
	m.standbys[s.ID] = &standby{task: t}
	m.do(SpawnStandby{ID: s.ID, Gen: t.gen, Spec: t.spec, Resumed: &s.Resumed, Reply: s.Reply})
}

func (m *Machine) respecStandby(r RespecStandby) {
	if s := m.standbys[r.ID]; s != nil {
		spec := m.withPatience(r.Spec.WithDefaults())
		spec.CDPURL, spec.Launch = s.task.spec.CDPURL, nil // the node's own, where it has one for all
		s.task.spec = &spec
		m.do(ToSupervisor{r.ID, mail.UpdateSpec{Spec: spec}})
	}
}

func (m *Machine) stopStandby(s StopStandby) {
	one := m.standbys[s.ID]
	if one == nil {
		m.do(Answer{To: s.Reply})
		return
	}
	one.stoppers = append(one.stoppers, s.Reply)
	m.endStandby(s.ID, one)
}

func (m *Machine) endStandby(id messages.TaskID, s *standby) {
	if !s.isStopping {
		s.isStopping = true
		m.do(ToSupervisor{id, mail.StopTask{ID: id}})
	}
}

// promoteStandby makes a task of a standby. It has a place from here on, whatever the limits are,
// as a task has that is handed over.
func (m *Machine) promoteStandby(now time.Time, p PromoteStandby) {
	s := m.standbys[p.ID]
	if s == nil || s.isStopping || m.isDraining {
		m.do(Answer{To: p.Reply, Err: messages.Errorf(messages.CodeTaskNotFound, "the node has no standby of the task")})
		return
	}
	delete(m.standbys, p.ID)
	t := s.task
	t.started, t.isActive, t.isWithheld = now, true, true
	m.tasks[p.ID] = t
	m.do(Promote{p.ID, t.spec, p.Memory, p.Reply})
}

func (m *Machine) standbyExited(now time.Time, e StandbyExited) {
	s := m.standbys[e.ID]
	if s == nil || s.task.gen != e.Gen {
		return
	}
	delete(m.standbys, e.ID)
	for _, reply := range s.stoppers {
		m.do(Answer{To: reply})
	}
	for _, o := range s.starts {
		m.start(now, o)
	}
}

// answerStandby answers who waits for a standby as the registry ends.
func (m *Machine) answerStandby(s *standby) {
	for _, reply := range s.stoppers {
		m.do(Answer{To: reply})
	}
	for _, o := range s.starts {
		m.do(Admit{o.Admitted})
		m.do(Answer{To: o.Reply, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "the node has stopped")})
	}
}

// StandbyBoard is the answer to a [StartStandby].
type StandbyBoard struct{ *view.Board }
