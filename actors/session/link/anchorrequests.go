package link

import (
	"maps"
	"slices"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The anchor's part in the bridge by requests. Either link may be the one that is told
// of a request first. Where that is the anchor, the primary's session, which has the
// word of it, tells of the dialog, and the anchor answers. What it holds when the
// primary is lost it tells of by itself.

// anchorHeld bounds the requests that are remembered.
const anchorHeld = 1024

// maybeCovered says that what a page asks is told to the anchor, once both are so: of a
// native dialog, and of a request that the primary leaves behind.
func (m *Anchor) maybeCovered(t messages.TargetID) {
	p := m.pages.At(t)
	if p == nil || p.isCovered || !p.isEnabled || !m.passesOn(p.session) {
		return
	}
	p.isCovered = true
	m.do(effect.ToDialog{Msg: m.coveredFact(t)})
	m.do(effect.ToSupervisor{Msg: m.coveredFact(t)})
	m.maybeSettled()
}

// passesOn says so of one session.
func (m *Anchor) passesOn(s messages.SessionID) bool {
	b := m.bridges[s]
	return b == nil || b.PassesOn()
}

// passesOnFrames says so of all frames that the anchor has been told of.
func (m *Anchor) passesOnFrames() bool {
	if !m.requests.IsOn() {
		return true
	}
	for _, f := range m.frames {
		if f.session == "" || !m.passesOn(f.session) {
			return false
		}
	}
	return true
}

func (m *Anchor) requestPaused(p bridge.RequestPaused) {
	if !m.requests.AcceptRequest(p) {
		return
	}
	m.tellRequest(p.RequestHeld)
}

func (m *Anchor) tellRequest(r mail.RequestHeld) {
	// A question whether it is heard needs no other link.
	if b := m.requestsOf(r.Label); m.isAlone || b != nil && b.IsProbe(r.Key) {
		m.ownRequest(r)
		return
	}
	if len(m.requested) >= anchorHeld {
		// Of pages that are no more; no page asks so much at once.
		maps.DeleteFunc(m.requested, func(_ string, held mail.RequestHeld) bool { return m.requestsOf(held.Label) == nil })
	}
	if _, known := m.requested[r.Request]; !known && (len(m.requested) >= anchorHeld || m.requestedOf(r.Label) >= bridge.MaxHeld) {
		m.endRequest(mail.EndRequest{Role: r.Role, Gen: r.Gen, Request: r.Request})
		return
	}
	smallmap.Put(&m.requested, r.Request, r)
	m.do(effect.ToSupervisor{Msg: r})
}

// requestedOf counts those of one session, whose pages may ask as much as they like.
func (m *Anchor) requestedOf(label string) int {
	n := 0
	for _, r := range m.requested {
		if r.Label == label {
			n++
		}
	}
	return n
}

// ownRequest is for the anchor to decide over.
func (m *Anchor) ownRequest(r mail.RequestHeld) {
	if !m.requests.IsOn() || r.Gen != m.cfg.Gen {
		return // of an anchor before
	}
	delete(m.requested, r.Request)
	if b := m.requestsOf(r.Label); b != nil {
		b.RequestHeld(r)
		return
	}
	// Of a frame it has no session of: known to the actor that remembers its dialog.
	if len(m.strays) >= anchorHeld {
		m.endRequest(mail.EndRequest{Role: r.Role, Gen: r.Gen, Request: r.Request})
		return
	}
	smallmap.Put(&m.strays, r.Request, mail.DialogOpened{
		Role: messages.RoleAnchor, Gen: m.cfg.Gen, Frame: r.Frame, Pause: bridge.PauseOf(r),
	})
	m.do(effect.ToDialog{Msg: m.strays[r.Request]})
}

// tellAgain tells a new dialog actor of the pages, of what waits, and of what is left to
// it.
func (m *Anchor) tellAgain() {
	for _, t := range slices.Sorted(m.pages.Keys()) {
		m.tellWatched(t)
		if p := m.pages.At(t); p.isCovered && !p.isAsking {
			m.do(effect.ToDialog{Msg: mail.NoneAsks{Page: t, Session: p.session}})
		}
	}
	for _, s := range slices.Sorted(maps.Keys(m.bridges)) {
		m.bridges[s].TellAll()
	}
	for _, id := range slices.Sorted(maps.Keys(m.strays)) {
		m.do(effect.ToDialog{Msg: m.strays[id]})
	}
}

// requestsOf is the bridge of the session that a request is for; nil is none.
func (m *Anchor) requestsOf(label string) *bridge.Machine {
	for _, s := range slices.Sorted(maps.Keys(m.bridges)) {
		if b := m.bridges[s]; label != "" && b.Label() == label {
			return b
		}
	}
	return nil
}

// tellRequests tells of what the primary has left behind.
func (m *Anchor) tellRequests() {
	for _, id := range slices.Sorted(maps.Keys(m.requested)) {
		m.tellRequest(m.requested[id])
	}
}

// endRequest does as the primary's session says. What an anchor before this one held
// has passed on.
func (m *Anchor) endRequest(e mail.EndRequest) {
	switch {
	case m.requests.IsOn() && e.Gen == m.cfg.Gen:
		delete(m.requested, e.Request)
		delete(m.strays, e.Request)
		m.do(bridge.EndRequest(m.cfg.Bridge.Secret, e))
	case e.Dialog != "":
		m.do(effect.ToDialog{Msg: mail.DialogHandled{
			Dialog: e.Dialog, Session: e.Session, Err: messages.Errorf(messages.CodeUpstreamUnavailable, "the page is not connected").WithSent(messages.SentNo),
		}})
	}
}

// answerRequest answers a call that the anchor holds the request of.
func (m *Anchor) answerRequest(o mail.HandleDialog) {
	e := mail.EndRequest{Role: messages.RoleAnchor, Gen: o.Pause.HolderGen, Request: o.Pause.Request, Dialog: o.Dialog, Session: o.Session}
	if o.Dialog != "" {
		e.Answer = bridge.AnswerOf(o)
	}
	m.endRequest(e)
}

// requestEnded tells the outcome of an answer to a call of the primary's session.
func (m *Anchor) requestEnded(r effect.Replied) {
	if m.bridges[r.Tag.Session] != nil {
		m.bridgeReplied(r)
	} else if r.Tag.ID != "" {
		m.do(effect.ToDialog{Msg: mail.DialogHandled{Dialog: r.Tag.ID, Session: r.Tag.Session, Err: effect.DialogError(bridge.NotWaiting(r.Err))}})
	}
}
