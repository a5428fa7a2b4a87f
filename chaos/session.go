package chaos

import (
	"encoding/json"
	"slices"

	"holdfast/messages"
)

// session is a client's handle on a target, or on the browser itself: the
// connection's own root session (no id) and those of attachToBrowserTarget
// have no target.
type session struct {
	id     messages.SessionID
	conn   *Conn
	owner  *session // who is told that it was attached; nil for a root session
	target *target
	isGone bool

	auto          autoAttach
	isAuto        bool // came from the owner's auto-attach
	isDiscovering bool

	// isPageInBrowser is Page.enable as the browser process knows it: from the
	// moment the command arrives (C22). Dialogs and the start of navigations
	// go by it. pageRenderer is the renderer's half, true once it has
	// answered; frames and load events go by that one.
	isPageInBrowser, isPageInRenderer bool
	isRuntimeOn, isInspectorOn        bool
	isLifecycleOn                     bool
	isFocusEmulated                   bool
	scripts                           []script
	debugs                            debugs
	settings                          map[string]string // method → params, of what lasts as long as the session
}

// script is one to run on every new document.
type script struct{ id, source string }

type autoAttach struct {
	isOn, mustWait bool
	filter         []filterEntry // nil: everything (of a target's children)
}

type filterEntry struct {
	Type    string `json:"type"`
	Exclude bool   `json:"exclude"`
}

func (a autoAttach) wants(kind string) bool {
	if !a.isOn {
		return false
	}
	for _, e := range a.filter {
		if e.Type == "" || e.Type == kind {
			return !e.Exclude
		}
	}
	return a.filter == nil
}

// send queues an event for the session's client.
func (s *session) send(method string, params any) {
	if s.isGone {
		return
	}
	raw, ok := params.(json.RawMessage)
	if !ok {
		raw = marshal(params)
	}
	s.conn.push(marshal(wireEvent{Method: method, Params: raw, SessionID: s.id}))
}

type attachedParams struct {
	SessionID          messages.SessionID `json:"sessionId"`
	TargetInfo         targetInfo         `json:"targetInfo"`
	WaitingForDebugger bool               `json:"waitingForDebugger"`
}

type detachedParams struct {
	SessionID messages.SessionID `json:"sessionId"`
	TargetID  messages.TargetID  `json:"targetId"`
}

// attach gives owner a session on t.
func (b *Browser) attach(owner *session, t *target, auto, waiting bool) *session {
	s := &session{
		id: messages.SessionID(b.ids.token()), conn: owner.conn, owner: owner,
		target: t, isAuto: auto,
	}
	s.conn.sessions = append(s.conn.sessions, s)
	t.sessions = append(t.sessions, s)
	if waiting {
		t.waiting = append(t.waiting, s)
	}
	if len(t.sessions) == 1 {
		b.tellDiscoverers("Target.targetInfoChanged", t)
	}
	owner.send("Target.attachedToTarget", attachedParams{s.id, b.info(t), waiting})
	return s
}

// canSee says whether t is one of those that auto-attach on s is about: pages
// for a browser session, a target's own OOPIFs for its session (C28).
func (s *session) canSee(t *target) bool {
	if s.target == nil {
		return t.parent == nil
	}
	return t.parent == s.target
}

func (b *Browser) isAttachedBy(owner *session, t *target) bool {
	return slices.ContainsFunc(t.sessions, func(s *session) bool { return s.owner == owner && s.isAuto })
}

// detach ends a session and tells its owner. announceFirst is the order in
// which Chrome reports a target that goes away by itself: discoverers hear
// that it is not attached any more before the owner hears of the detach.
func (b *Browser) detach(s *session, announceFirst bool) {
	if s.isGone {
		return
	}
	t, owner := s.target, s.owner
	tell := func() { owner.send("Target.detachedFromTarget", detachedParams{s.id, t.id}) }
	if !announceFirst {
		tell()
	}
	b.forget(s)
	if announceFirst {
		tell()
	}
}

// forget takes s, and what it had attached, out of the world without a word to
// its client.
func (b *Browser) forget(s *session) {
	if s.isGone {
		return
	}
	if s.leavesDoomed() {
		b.die()
	}
	s.isGone = true
	s.isPageInBrowser, s.isPageInRenderer = false, false
	s.conn.sessions = slices.DeleteFunc(s.conn.sessions, func(x *session) bool { return x == s })
	for _, child := range slices.Clone(s.conn.sessions) {
		if child.owner == s {
			b.forget(child)
		}
	}
	t := s.target
	if t == nil {
		return
	}
	t.sessions = slices.DeleteFunc(t.sessions, func(x *session) bool { return x == s })
	s.clearEmulation(t)
	for _, other := range t.sessions {
		// Chrome takes these back for the page, whichever session has set them.
		delete(other.settings, "Emulation.setEmulatedMedia")
		delete(other.settings, "Network.emulateNetworkConditions")
	}
	if slices.Contains(t.waiting, s) {
		b.abandon(t, s)
	}
	for _, p := range b.pages {
		for _, d := range p.dialogs {
			d.audience = slices.DeleteFunc(d.audience, func(x *session) bool { return x == s })
		}
	}
	s.debugs = debugs{}
	b.maybeGoOn(t)
	if len(t.sessions) == 0 {
		b.tellDiscoverers("Target.targetInfoChanged", t)
	}
}

// abandon is a waiting session that goes away without resuming: an iframe then
// runs, a popup and its opener's page stay frozen (C33).
func (b *Browser) abandon(t *target, s *session) {
	t.waiting = slices.DeleteFunc(t.waiting, func(x *session) bool { return x == s })
	if t.parent == nil && t.start != nil {
		t.isFrozen = true
		if o := b.target(t.page.opener); o != nil {
			o.isFrozen = true
		}
		return
	}
	b.startIfFree(t)
}

// resume is Runtime.runIfWaitingForDebugger: the target runs once all who wait
// have said so (C32), a popup of window.open as soon as one has.
func (b *Browser) resume(s *session) {
	t := s.target
	t.waiting = slices.DeleteFunc(t.waiting, func(x *session) bool { return x == s })
	if t.parent == nil && t.page.opener != "" {
		t.waiting = nil
	}
	if len(t.waiting) > 0 {
		return
	}
	t.isFrozen = false
	if o := b.target(t.page.opener); o != nil && t.parent == nil {
		o.isFrozen = false // it stood still inside window.open
		b.drain(o.proc)
	}
	b.startIfFree(t)
	b.drain(t.proc)
}

// startIfFree lets a held target run its first document.
func (b *Browser) startIfFree(t *target) {
	if len(t.waiting) > 0 || t.isFrozen || t.start == nil || t.proc.isStarting {
		return
	}
	start := t.start
	t.start = nil
	start()
	if o := b.target(t.page.opener); o != nil && t.parent == nil {
		b.drain(o.proc)
	}
}
