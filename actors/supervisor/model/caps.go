package model

import (
	"holdfast/internal/backend"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// SetCaps says what is known of the browser beforehand. It comes before the first Step.
// What is not known is learnt by trying.
func (m *Task) SetCaps(c backend.Caps) {
	m.Caps = c
	if m.Conn.AnchorOff == "" {
		m.Conn.AnchorOff = m.NoAnchor()
	}
	m.BridgeBy, m.CannotHearRequests, m.BridgedBy = m.FirstMechanism(), c.RootFetch == backend.No, 0
	m.ShowBridge()
}

// NoAnchor is why the browser can have no anchor, "" where it may.
func (m *Task) NoAnchor() messages.AnchorOff {
	if m.Caps.SecondLink == backend.No {
		return messages.AnchorOffSingle
	}
	return ""
}

// FirstMechanism is the one of the bridge that a browser is asked for first.
func (m *Task) FirstMechanism() mail.Mechanism {
	if m.Caps.Debugger == backend.No {
		return mail.ByRequest
	}
	return mail.ByDebugger
}

// CanHear is false where the bridge could only go by requests that the browser is known
// not to let be heard.
func (m *Task) CanHear() bool {
	return m.BridgeBy != mail.ByRequest || m.Caps.RootFetch != backend.No
}
