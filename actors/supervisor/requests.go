package supervisor

import (
	"maps"

	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The second mechanism of the bridge, for a browser that refuses its debugger: requests,
// which the browser's session receives for all pages, and whose messages each page's own
// session receives.

// mechanismStarts is for a link that is about to be dialled. Its browser's session
// begins with what the task wants, and answers a question that was asked of the last.
func (m *Machine) mechanismStarts() {
	unheard := m.unheard()
	m.hearing = m.bridged() && m.by == mail.ByRequest
	m.asked, m.deaf, m.given = m.asked && m.hearing, false, false
	if unheard {
		m.epoch++
		m.toAnchor(m.bridgeOrder())
	}
}

// unheard says that requests are the task's mechanism, and that the link's browser does
// not let them be heard any more. No session has the bridge then; the next link asks
// again.
func (m *Machine) unheard() bool { return m.bridged() && m.by == mail.ByRequest && m.deaf }

// debuggerAgain is for a link to another browser than the last, which may give what
// that did not. It has no session yet.
func (m *Machine) debuggerAgain() {
	if m.by == mail.ByDebugger {
		return
	}
	m.by, m.asked = mail.ByDebugger, false
	clear(m.native)
	m.maybeHearNothing()
	if m.bridged() {
		m.epoch++
		m.showBridge()
		m.tellConnection()
		m.toAnchor(m.bridgeOrder())
	}
}

// mechanismRefused has the task try the next mechanism where a session was refused the
// debugger. The session keeps its native dialogs meanwhile. Where another session of
// the link was given it, the no is that one page's.
func (m *Machine) mechanismRefused(r mail.BridgeRefused) {
	switch {
	case r.By != mail.ByDebugger || m.deaf || m.asked || m.given || !m.bridged():
	case m.by == mail.ByRequest: // it was held already
		m.do(ToSession{r.Session, m.bridgeOrder()})
	default:
		m.askForRequests()
	}
}

// askForRequests comes before the sessions are told: a document asks once whether it
// is heard.
func (m *Machine) askForRequests() {
	m.asked, m.hearing = true, true
	m.do(ToBrowser{mail.SetBridge{On: true, By: mail.ByRequest, Epoch: m.epoch}})
}

func (m *Machine) requestsHeard(r mail.RequestsHeard) {
	if r.Gen != m.gen {
		return
	}
	asked := m.asked
	m.asked = false
	switch {
	case r.Err != nil && m.by == mail.ByRequest:
		m.deaf, m.hearing = true, false
		m.epoch++
		m.tellBridge()
	case r.Err != nil:
		m.deaf, m.hearing = m.deaf || asked, false
	case !asked, !m.bridged(), m.given: // not wanted any more
		m.maybeHearNothing()
	default:
		m.by, m.deaf = mail.ByRequest, false
		m.epoch++
		m.showBridge()
		m.tellConnection()
		m.tellBridge()
	}
}

// maybeHearNothing ends the hearing once no document has the bridge any more.
func (m *Machine) maybeHearNothing() {
	if !m.hearing || m.asked {
		return
	}
	if m.by == mail.ByRequest {
		if m.bridged() {
			return
		}
		for _, e := range m.sessions.All() {
			if e.bridged {
				return
			}
		}
	}
	m.hearing = false
	m.forgetRequests(messages.RolePrimary) // the browser lets them go
	m.do(ToBrowser{mail.SetBridge{Epoch: m.epoch}})
}

// requestHeld passes a request on to the session that it is for. Where the primary has
// none, since it is being dialled or attached, the anchor decides by itself: its frame
// waits, and there is no second report. The newest of each session is repeated to the next
// one, and to an actor that begins anew: the browser reports it once.
func (m *Machine) requestHeld(r mail.RequestHeld) {
	switch {
	case r.Unspoken:
		m.toAnchor(r)
		return
	case r.Role == messages.RolePrimary && r.Gen != m.gen, r.Role == messages.RoleAnchor && r.Gen != m.anchor.gen:
		return
	}
	for s, e := range m.sessions.All() {
		if m.label(e) == r.Label {
			m.remember(r)
			m.do(ToSession{s, r})
			return
		}
	}
	if r.Role == messages.RoleAnchor {
		m.toAnchor(r)
	} else {
		m.endRequest(mail.EndRequest{Role: r.Role, Gen: r.Gen, Request: r.Request})
	}
}

// label is that of a session's requests.
func (m *Machine) label(e *sessionEntry) string {
	if e.label == "" {
		e.label = m.bridge.Label(e.cfg.Target)
	}
	return e.label
}

// remember keeps a request of a session: a document makes one at a time. That of a
// frame whose session has ended stays for the next one.
func (m *Machine) remember(r mail.RequestHeld) {
	smallmap.Put(&m.waiting, r.Label, r)
	if len(m.waiting) <= effect.MaxSessions {
		return
	}
	there := map[string]bool{}
	for _, e := range m.sessions.All() {
		there[m.label(e)] = true
	}
	maps.DeleteFunc(m.waiting, func(label string, _ mail.RequestHeld) bool { return !there[label] })
}

// forgetRequests is the end of a link, or of its hearing: what it held has gone on.
func (m *Machine) forgetRequests(role messages.Role) {
	maps.DeleteFunc(m.waiting, func(_ string, r mail.RequestHeld) bool { return r.Role == role })
}

// tellRequest tells a session's new actor what was told to one before. That may have
// ended since: to end it once more does no harm.
func (m *Machine) tellRequest(s messages.SessionID) {
	if len(m.waiting) == 0 {
		return
	}
	if r, ok := m.waiting[m.label(m.sessions.At(s))]; ok {
		m.do(ToSession{s, r})
	}
}

// endRequest has a request ended by the link that holds it.
func (m *Machine) endRequest(e mail.EndRequest) {
	if e.Role == messages.RoleAnchor {
		m.toAnchor(e)
	} else {
		m.do(ToBrowser{e})
	}
}
