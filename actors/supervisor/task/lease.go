package task

import (
	"holdfast/messages/mail"
)

// lease takes the begin of a time in which the task's node may not decide for it, or its end.
func (m *Machine) lease(l mail.Lease) {
	if l.IsHeld != m.isLapsed {
		return
	}
	m.isLapsed = !l.IsHeld
	m.do(ToDialog{l})
	if m.isLapsed {
		return
	}
	// What has waited: pages whose state the spec wants something done about, and poisoned ones.
	m.turned = append(m.turned[:0], m.Order...)
	for _, t := range m.Order {
		if m.Pages.At(t).IsPoisoned {
			m.do(Arm{timerRelease + string(t), releaseGrace})
		}
	}
}

// isRefused answers an order that the node may not carry out.
func (m *Machine) isRefused(reply mail.Call) bool {
	if !m.isLapsed {
		return false
	}
	m.do(Answer{To: reply, Err: mail.Lapsed()})
	return true
}
