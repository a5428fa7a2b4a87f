package registry

import (
	"time"

	"holdfast/messages"
)

// Status is how close the node is to its limits, at one moment.
type Status struct {
	Limits     messages.Limits
	Running    int
	Browsers   int
	Queued     int
	Oldest     time.Time // since when the first in the queue waits
	IsDraining bool
	// Lacks is what a start that may launch a browser cannot have.
	Lacks messages.LimitReason
	// IsFull says that no start of any kind would even be let wait.
	IsFull     bool
	RetryAfter int
	Memory     messages.Load
	CPU        messages.Load
}

// Status returns the machine's status.
func (m *Machine) Status(now time.Time) Status {
	s := Status{
		Limits: m.limits, Running: len(m.tasks), Browsers: m.admission.browsers, Queued: len(m.queue), IsDraining: m.isDraining,
		Memory: m.memory.load(), CPU: m.cpu.load(),
	}
	attach := messages.TaskSpec{}
	demanding := messages.TaskSpec{Launch: &messages.LaunchSpec{}}
	if !m.override.IsZero() {
		demanding = attach // nothing is ever launched
	}
	s.Lacks = m.lacks(demanding)
	s.IsFull = m.isDraining || m.lacks(attach) != "" && len(m.queue) >= m.limits.QueueLength
	if m.isDraining {
		s.Lacks = messages.LimitDraining
	}
	if s.Queued > 0 {
		s.Oldest = m.queue[0].since
	}
	if s.Lacks != "" {
		s.RetryAfter = m.retryAfter(now, s.Lacks)
	}
	return s
}
