package session

import (
	"maps"
	"slices"
	"strings"

	"holdfast/messages"
)

// The anchor's part in the bridge: a debugger on every page, and on every frame of
// another process, so that a pause outlives the primary link. Nothing is held
// for it: a session that comes while a page waits is told of it all the same.

var autoAttachIframesUnheld = []byte(`{"autoAttach":true,"waitForDebuggerOnStart":false,"flatten":true,"filter":[{"type":"iframe"}]}`)

func (m *AnchorMachine) bridgeOf(s messages.SessionID, page, target messages.TargetID) *bridge {
	b := newBridge(Config{
		Role: messages.RoleAnchor, Gen: m.cfg.Gen, Session: s, Page: page, Target: target,
		Bridge: Bridge{On: m.bridgeOn, Epoch: m.cfg.Bridge.Epoch, Secret: m.cfg.Bridge.Secret},
	}, m.do)
	m.bridges[s] = b
	return b
}

// bridgeAttach is the bridge's part of the attach of a page or a frame.
func (m *AnchorMachine) bridgeAttach(b *bridge) {
	if m.bridgeOn {
		b.attach()
		m.do(Command{Session: b.session, Tag: Tag{Kind: TagNone}, Method: "Target.setAutoAttach", Params: autoAttachIframesUnheld})
	}
}

func (m *AnchorMachine) setBridge(o messages.SetBridge) {
	m.cfg.Bridge.Epoch = max(m.cfg.Bridge.Epoch, o.Epoch)
	if m.bridgeOn == o.On {
		return
	}
	m.bridgeOn = o.On
	for _, s := range slices.Sorted(maps.Keys(m.bridges)) {
		b := m.bridges[s]
		b.set(o)
		if o.On {
			m.do(Command{Session: s, Tag: Tag{Kind: TagNone}, Method: "Target.setAutoAttach", Params: autoAttachIframesUnheld})
		}
	}
}

// frameAttached is a frame of another process, reported by the session of its parent.
func (m *AnchorMachine) frameAttached(a messages.TargetAttached) {
	parent := m.bridges[a.Via]
	if parent == nil || a.Info.Type != "iframe" || m.leaving || !m.bridgeOn {
		m.do(Command{Session: a.Session, Tag: Tag{Kind: TagNone}, Method: resume})
		return
	}
	b := m.bridgeOf(a.Session, parent.page, a.Info.ID)
	m.vias[a.Session] = a.Via
	m.do(Listen{a.Session, parent.page})
	m.do(Command{Session: a.Session, Tag: Tag{Kind: TagNone}, Method: "Page.enable"}) // scripts are added only then (C34)
	m.bridgeAttach(b)
	m.do(Command{Session: a.Session, Tag: Tag{Kind: TagNone}, Method: resume})
	parent.askElement(a.Session, a.Info.ID)
}

// sessionGone forgets a session and those that were attached through it.
func (m *AnchorMachine) sessionGone(s messages.SessionID) {
	if m.bridges[s] == nil {
		return
	}
	delete(m.bridges, s)
	delete(m.vias, s)
	if m.bridgeOn {
		m.do(ToDialog{messages.SessionGone{Role: messages.RoleAnchor, Session: s}})
	}
	for _, child := range slices.Sorted(maps.Keys(m.vias)) {
		if m.vias[child] == s {
			m.sessionGone(child)
		}
	}
}

func (m *AnchorMachine) bridgeReplied(r Replied) {
	if b := m.bridges[r.Tag.Session]; b != nil {
		b.replied(r)
	}
}

func (m *AnchorMachine) bridgeTimer(name string) {
	if s, ok := strings.CutPrefix(name, timerBox); ok {
		if b := m.bridges[messages.SessionID(s)]; b != nil {
			b.boxTimedOut()
		}
	}
	if s, ok := strings.CutPrefix(name, timerBridge); ok {
		if b := m.bridges[messages.SessionID(s)]; b != nil {
			b.timedOut()
		}
	}
}

// fromFrame is what a session of the anchor says of its bridge.
type fromFrame struct {
	Session messages.SessionID
	Event   any
}

func (m *AnchorMachine) bridgeEvent(e fromFrame) {
	b := m.bridges[e.Session]
	if b == nil {
		return
	}
	switch in := e.Event.(type) {
	case bridgeScript:
		b.scriptRuns(in)
	case bridgePaused:
		b.paused(in)
	case pausedEvent:
		if !in {
			b.goesOn()
		}
	}
}
