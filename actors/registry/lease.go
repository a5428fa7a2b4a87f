package registry

import (
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Lease says whether the node may decide: for the task of that id, or where it is empty for
// all. A task is decided for where both hold.
type Lease struct {
	ID     messages.TaskID
	IsHeld bool
}

// lease tells the tasks that it changes something for.
func (m *Machine) lease(l Lease) {
	if l.ID != "" {
		if t := m.tasks[l.ID]; t != nil && t.isWithheld == l.IsHeld {
			t.isWithheld = !l.IsHeld
			if !m.isLapsed {
				m.do(ToSupervisor{l.ID, mail.Lease{IsHeld: l.IsHeld}})
			}
		}
		return
	}
	if m.isLapsed != l.IsHeld {
		return
	}
	m.isLapsed = !l.IsHeld
	for _, id := range m.ids() {
		if !m.tasks[id].isWithheld {
			m.do(ToSupervisor{id, mail.Lease{IsHeld: l.IsHeld}})
		}
	}
}
