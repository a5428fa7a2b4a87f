package registry

import (
	"slices"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// Lose shows a task as lost whose browser has ended with another node, or with an earlier run of
// this one. The reply is nil.
type Lose struct {
	ID      messages.TaskID
	Spec    messages.TaskSpec
	Version uint64 // that it had at least
	Reply   mail.Call
}

// ReplyTo is the call that waits for the answer.
func (l Lose) ReplyTo() mail.Call { return l.Reply }

// ShowLost shows a task that has no supervisor.
type ShowLost struct {
	ID      messages.TaskID
	Spec    *messages.TaskSpec
	Version uint64
}

// reasonNodeDown is why such a task is lost.
const reasonNodeDown = "node_down: its browser ended with the node that had launched it"

func (m *Machine) lose(l Lose) {
	if m.tasks[l.ID] == nil {
		spec := l.Spec.WithDefaults()
		m.do(ShowLost{l.ID, &spec, l.Version})
		if !slices.Contains(m.ended, l.ID) {
			m.ended = append(m.ended, l.ID)
		}
	}
	m.do(Answer{To: l.Reply})
}
