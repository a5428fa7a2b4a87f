package mechanism

import (
	"maps"

	"holdfast/actors/session/effect"
	"holdfast/internal/backend"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The second mechanism of the bridge, for a browser that refuses its debugger: requests,
// which the browser's session receives for all pages, and whose messages each page's own
// session receives.

// LinkStarts is for a link that is about to be dialled. Its browser's session
// begins with what the task wants, and answers a question that was asked of the last.
func (m *Machine) LinkStarts() {
	unheard := m.IsUnheard()
	m.isHearing = m.IsBridged() && m.BridgeBy == mail.ByRequest && m.CanHear()
	m.isAsked, m.CannotHearRequests, m.isGiven = m.isAsked && m.isHearing, m.Caps.RootFetch == backend.No, false
	if unheard {
		m.Epoch++
		m.ToAnchor(m.BridgeOrder())
	}
}

// BrowserChanged is for a link to another browser than the last, which may give what
// that did not. It has no session yet.
func (m *Machine) BrowserChanged() {
	if m.BridgeBy == m.FirstMechanism() {
		return
	}
	m.BridgeBy, m.isAsked = m.FirstMechanism(), false
	clear(m.Native)
	m.MaybeHearNothing()
	if m.IsBridged() {
		m.Epoch++
		m.ShowBridge()
		m.TellConnection()
		m.ToAnchor(m.BridgeOrder())
	}
}

// mechanismRefused has the task try the next mechanism where a session was refused the
// debugger. The session keeps its native dialogs meanwhile. Where another session of
// the link was given it, the no is that one page's.
func (m *Machine) mechanismRefused(r mail.BridgeRefused) {
	switch {
	case r.By != mail.ByDebugger || m.CannotHearRequests || m.isAsked || m.isGiven || !m.IsBridged():
	case m.BridgeBy == mail.ByRequest: // it was held already
		m.ToSession(r.Session, m.BridgeOrder())
	default:
		m.askForRequests()
	}
}

// askForRequests comes before the sessions are told: a document asks once whether it
// is heard.
func (m *Machine) askForRequests() {
	m.isAsked, m.isHearing = true, true
	m.ToBrowser(mail.SetBridge{IsOn: true, By: mail.ByRequest, Epoch: m.Epoch})
}

func (m *Machine) RequestsHeard(r mail.RequestsHeard) {
	if r.Gen != m.Gen {
		return
	}
	asked := m.isAsked
	m.isAsked = false
	switch {
	case r.Err != nil && m.BridgeBy == mail.ByRequest:
		m.CannotHearRequests, m.isHearing = true, false
		m.Epoch++
		m.tellBridge()
	case r.Err != nil:
		m.CannotHearRequests, m.isHearing = m.CannotHearRequests || asked, false
	case !asked, !m.IsBridged(), m.isGiven: // not wanted any more
		m.MaybeHearNothing()
	default:
		m.BridgeBy, m.CannotHearRequests = mail.ByRequest, false
		m.Epoch++
		m.ShowBridge()
		m.TellConnection()
		m.tellBridge()
	}
}

// MaybeHearNothing ends the hearing once no document has the bridge any more.
func (m *Machine) MaybeHearNothing() {
	if !m.isHearing || m.isAsked {
		return
	}
	if m.BridgeBy == mail.ByRequest {
		if m.IsBridged() {
			return
		}
		for _, e := range m.Sessions.All() {
			if e.IsBridged {
				return
			}
		}
	}
	m.isHearing = false
	m.forgetRequests(messages.RolePrimary) // the browser lets them go
	m.ToBrowser(mail.SetBridge{Epoch: m.Epoch})
}

// RequestHeld passes a request on to the session that it is for. Where the primary has
// none, since it is being dialled or attached, the anchor decides by itself: its frame
// waits, and there is no second report. The newest of each session is repeated to the next
// one, and to an actor that begins anew: the browser reports it once.
func (m *Machine) RequestHeld(r mail.RequestHeld) {
	switch {
	case r.IsUnspoken:
		m.ToAnchor(r)
		return
	case r.Role == messages.RolePrimary && r.Gen != m.Gen, r.Role == messages.RoleAnchor && r.Gen != m.Anchor.Gen:
		return
	}
	for s, e := range m.Sessions.All() {
		if m.RequestLabel(e) == r.Label {
			m.remember(r)
			m.ToSession(s, r)
			return
		}
	}
	if r.Role == messages.RoleAnchor {
		m.ToAnchor(r)
	} else {
		m.EndRequest(mail.EndRequest{Role: r.Role, Gen: r.Gen, Request: r.Request})
	}
}

// remember keeps a request of a session: a document makes one at a time. That of a
// frame whose session has ended stays for the next one.
func (m *Machine) remember(r mail.RequestHeld) {
	smallmap.Put(&m.waiting, r.Label, r)
	if len(m.waiting) <= effect.MaxSessions {
		return
	}
	there := map[string]bool{}
	for _, e := range m.Sessions.All() {
		there[m.RequestLabel(e)] = true
	}
	maps.DeleteFunc(m.waiting, func(label string, _ mail.RequestHeld) bool { return !there[label] })
}

// LinkLost is the end of a link: what it held has gone on, and a browser that ends closes its
// dialogs.
func (m *Machine) LinkLost(role messages.Role) {
	if m.forgetRequests(role); role == messages.RolePrimary {
		clear(m.needed)
	}
}

// forgetRequests is the end of a link, or of its hearing.
func (m *Machine) forgetRequests(role messages.Role) {
	maps.DeleteFunc(m.waiting, func(_ string, r mail.RequestHeld) bool { return r.Role == role })
}

// TellRequest tells a session what was told to one before. That may have ended since: to end
// it once more does no harm.
func (m *Machine) TellRequest(s messages.SessionID) {
	if len(m.waiting) == 0 {
		return
	}
	if r, ok := m.waiting[m.RequestLabel(m.Sessions.At(s))]; ok {
		m.ToSession(s, r)
	}
}

// EndRequest has a request ended by the link that holds it.
func (m *Machine) EndRequest(e mail.EndRequest) {
	if e.Role == messages.RoleAnchor {
		m.ToAnchor(e)
	} else {
		m.ToBrowser(e)
	}
}
