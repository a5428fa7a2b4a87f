package task

import (
	"holdfast/messages/mail"
)

// lease takes the begin of a time in which the task's node may not decide for it, or its end.
func (m *Machine) lease(l mail.Lease) {
	if l.IsHeld != m.IsLapsed {
		return
	}
	m.IsLapsed = !l.IsHeld
	m.ToDialog(l)
	if m.IsLapsed {
		return
	}
	// What has waited: pages whose state the spec wants something done about, and poisoned ones.
	m.Turned = append(m.Turned[:0], m.Order...)
	for _, t := range m.Order {
		if m.Pages.At(t).IsPoisoned {
			m.Arm(timerRelease+string(t), releaseGrace)
		}
	}
}
