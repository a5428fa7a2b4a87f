package supervisor

import "holdfast/messages"

// The second mechanism of the bridge, for a browser that gives nobody its debugger:
// requests, which the browser's session hears for all pages, and each page's own
// session has the word of.

// mechanismRefused has the task try the next mechanism where a session was refused the
// debugger. The session keeps its native dialogs meanwhile.
func (m *Machine) mechanismRefused(r messages.BridgeRefused) {
	switch {
	case r.By != messages.ByDebugger || m.deaf || m.asked || !m.bridged():
	case m.by == messages.ByRequest: // it was on its way
		m.do(ToSession{r.Session, m.bridgeOrder()})
	default:
		m.askForRequests()
	}
}

// askForRequests comes before the sessions are told: a document asks once whether it
// is heard.
func (m *Machine) askForRequests() {
	m.asked = true
	m.do(ToBrowser{messages.SetBridge{On: true, By: messages.ByRequest, Epoch: m.epoch}})
}

func (m *Machine) requestsHeard(r messages.RequestsHeard) {
	if r.Gen != m.gen || !m.asked {
		return
	}
	m.asked = false
	switch {
	case r.Err != nil:
		m.deaf = true
	case m.bridged():
		m.by = messages.ByRequest
		m.epoch++
		m.showBridge()
		m.tellConnection()
		m.tellBridge()
	}
}

// maybeHearNothing ends the hearing once no document has the bridge any more.
func (m *Machine) maybeHearNothing() {
	if m.by != messages.ByRequest || m.bridged() {
		return
	}
	for _, e := range m.sessions {
		if e.bridged {
			return
		}
	}
	m.do(ToBrowser{messages.SetBridge{Epoch: m.epoch}})
}

// requestHeld passes a request on to the session that it is for. Where the primary
// has none, be it that it is being dialled or attached, the anchor decides by itself:
// its frame waits, and nobody tells of it again.
func (m *Machine) requestHeld(r messages.RequestHeld) {
	switch {
	case r.Unspoken:
		m.toAnchor(r)
		return
	case r.Role == messages.RolePrimary && r.Gen != m.gen, r.Role == messages.RoleAnchor && r.Gen != m.anchor.gen:
		return
	}
	for s, e := range m.sessions {
		if e.label == "" {
			e.label = m.bridge.Label(e.cfg.Target)
		}
		if e.label == r.Label {
			m.do(ToSession{s, r})
			return
		}
	}
	if r.Role == messages.RoleAnchor {
		m.toAnchor(r)
	} else {
		m.endRequest(messages.EndRequest{Role: r.Role, Gen: r.Gen, Request: r.Request})
	}
}

// endRequest has a request ended by the link that holds it.
func (m *Machine) endRequest(e messages.EndRequest) {
	if e.Role == messages.RoleAnchor {
		m.toAnchor(e)
	} else {
		m.do(ToBrowser{e})
	}
}
