package supervisor

import (
	"holdfast/actors/session"
	"holdfast/messages"
)

// bridged says whether the task's dialogs are to come over the bridge.
func (m *Machine) bridged() bool {
	return m.spec.Bridge == messages.BridgeOn || m.spec.Bridge == messages.BridgeAuto && m.switched
}

func (m *Machine) sessionBridge() session.Bridge {
	return session.Bridge{On: m.bridged(), Epoch: m.epoch, Secret: m.bridge}
}

// setBridge follows a spec, or a browser, that wants another bridge.
func (m *Machine) setBridge() {
	state := messages.BridgeNative
	if m.bridged() {
		state = messages.BridgeOn
	}
	if m.conn.Bridge == state {
		return
	}
	m.conn.Bridge = state
	m.epoch++
	m.tellConnection()
	for _, s := range m.sessionOrder() {
		e := m.sessions[s]
		e.cfg.Bridge.On, e.unbridged = m.bridged(), false
		m.do(ToSession{s, messages.SetBridge{On: m.bridged(), Epoch: m.epoch}})
	}
	m.toAnchor(messages.SetBridge{On: m.bridged(), Epoch: m.epoch})
	for _, t := range m.order {
		m.pageChanged(t)
	}
}

// bridgeNeeded turns a task to the bridge whose browser closes native dialogs by
// itself.
func (m *Machine) bridgeNeeded(n messages.BridgeNeeded) {
	if m.spec.Bridge != messages.BridgeAuto || m.switched || m.stopping() {
		return
	}
	m.switched = true
	m.do(BridgeTaken{n.Dialog, n.After})
	m.setBridge()
}

// bridgeRefused notes where the bridge cannot work: dialogs stay native there.
func (m *Machine) bridgeRefused(r messages.BridgeRefused) {
	e := m.sessions[r.Session]
	if e == nil || r.Gen != m.gen || !e.cfg.Bridge.On || e.unbridged {
		return
	}
	e.unbridged = true
	m.pageChanged(e.cfg.Page)
}

// pageBridge is what the contract says of a page's bridge.
func (m *Machine) pageBridge(t messages.TargetID) string {
	if !m.bridged() {
		return messages.BridgeNative
	}
	for _, e := range m.sessions {
		if e.cfg.Page == t && e.unbridged {
			return messages.BridgeUnavailable
		}
	}
	return messages.BridgeOn
}

// leaveBridge gives the pages back their own functions before the task leaves
// them.
func (m *Machine) leaveBridge() {
	if !m.bridged() {
		return
	}
	for _, s := range m.sessionOrder() {
		m.do(ToSession{s, messages.SetBridge{Epoch: m.epoch + 1}})
	}
}

// frameBoxed passes on what a parent's session knows of a frame's.
func (m *Machine) frameBoxed(b messages.FrameBoxed) {
	switch {
	case b.Role == messages.RoleAnchor && b.Gen == m.anchor.gen:
		m.toAnchor(b)
	case b.Role == messages.RolePrimary && b.Gen == m.gen && m.sessions[b.Session] != nil:
		m.do(ToSession{b.Session, b})
	}
}
