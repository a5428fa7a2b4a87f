package link

import (
	"maps"
	"slices"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/decode"
	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The anchor's part in the bridge: a debugger on every page, and on every frame of
// another process, so that a pause outlives the primary link. It holds nothing: a
// session that comes while a page waits is told of it all the same.
//
// Frames are attached to one by one, when the primary has reported them. The anchor must
// not auto-attach to them: Target.setAutoAttach on a page, from any client, takes the
// sessions of frames away that are held for a client, and such a frame stays held (C33).

// anchoredFrame is a frame of another process.
type anchoredFrame struct {
	session    messages.SessionID // "": being attached
	order      mail.CoverFrame
	isRepeated bool // reported anew: what the session is of may be gone already
}

func (m *Anchor) bridgeOf(s messages.SessionID, page, target messages.TargetID) *bridge.Machine {
	b := bridge.New(bridge.Config{
		Identity:        effect.Identity{Role: messages.RoleAnchor, Gen: m.cfg.Gen, Session: s, Page: page, Target: target},
		Settings:        bridge.Settings{IsOn: m.isBridgeOn && !m.native[target], By: m.cfg.Bridge.By, Past: m.cfg.Bridge.Past, Epoch: m.cfg.Bridge.Epoch, Secret: m.cfg.Bridge.Secret},
		IsBesidePrimary: !m.isAlone,
	}, m.do)
	m.bridges[s] = b
	return b
}

func (m *Anchor) setBridge(o mail.SetBridge) {
	m.cfg.Bridge.Epoch = max(m.cfg.Bridge.Epoch, o.Epoch)
	clear(m.native) // the primary's sessions begin anew as well
	if m.isBridgeOn == o.IsOn && m.cfg.Bridge.By == o.By {
		return
	}
	if m.isBridgeOn { // for pages that are attached to later
		m.cfg.Bridge.Past = m.cfg.Bridge.Past.With(m.cfg.Bridge.By)
	}
	if o.IsOn {
		m.cfg.Bridge.Past = m.cfg.Bridge.Past.Without(o.By)
	}
	m.isBridgeOn, m.cfg.Bridge.By = o.IsOn, o.By
	m.requests.Hear(bridge.Settings{IsOn: o.IsOn, By: o.By}) // before a document asks whether it is heard
	for _, s := range slices.Sorted(maps.Keys(m.bridges)) {
		m.bridges[s].Set(o)
	}
	for _, t := range slices.Sorted(m.pages.Keys()) {
		m.maybeCovered(t) // it may wait for what has been given up
	}
}

// keepNative leaves a page or frame to Chrome where the primary has to.
func (m *Anchor) keepNative(o mail.KeepNative) {
	if m.native[o.Target] == o.IsOn {
		return
	}
	if delete(m.native, o.Target); o.IsOn {
		if len(m.native) >= effect.MaxSessions {
			clear(m.native)
		}
		smallmap.Put(&m.native, o.Target, true)
	}
	for _, s := range slices.Sorted(maps.Keys(m.bridges)) {
		b := m.bridges[s]
		switch {
		case b.Target != o.Target:
		case o.IsOn:
			b.KeepNative()
		default:
			b.Set(mail.SetBridge{IsOn: m.isBridgeOn, By: m.cfg.Bridge.By, Epoch: m.cfg.Bridge.Epoch})
		}
		m.maybeCovered(b.Page)
	}
	m.maybeSettled()
}

// coverFrame takes up a frame that the primary has reported.
func (m *Anchor) coverFrame(o mail.CoverFrame) {
	if m.isLeaving || !m.isAttached || !m.isBridgeOn || m.left[o.Page] {
		return
	}
	f := m.frames[o.Frame]
	switch {
	case f == nil && len(m.frames) < effect.MaxSessions:
		m.attachToFrame(o)
	case f == nil:
	case o.IsBoxKnown:
		f.order = o
		if b := m.bridges[f.session]; b != nil {
			b.Boxed(o.IsShut)
		}
	default:
		f.isRepeated = true
	}
}

func (m *Anchor) attachToFrame(o mail.CoverFrame) {
	smallmap.Put(&m.frames, o.Frame, &anchoredFrame{order: o})
	m.do(effect.OnBrowser(effect.Tag{Kind: TagCoverFrame, Page: o.Frame}, "Target.attachToTarget", attachParams{o.Frame, true}, pageBudget))
}

func (m *Anchor) frameAttached(a mail.TargetAttached) {
	f := m.frames[a.Info.ID]
	if f == nil || f.session != "" || m.isLeaving {
		m.do(detachFrom(effect.Tag{Kind: effect.TagNone}, a.Session))
		return
	}
	f.session = a.Session
	b := m.bridgeOf(a.Session, f.order.Page, a.Info.ID)
	m.do(effect.Listen{Session: a.Session, Page: f.order.Page})
	m.do(effect.Command{Session: a.Session, Tag: effect.Tag{Kind: effect.TagNone}, Method: "Page.enable"}) // scripts are added only then (C34)
	m.attachBridge(b)
	if f.order.IsBoxKnown {
		b.Boxed(f.order.IsShut)
	}
}

// frameGone is for a frame that could not be attached to.
func (m *Anchor) frameGone(t messages.TargetID) {
	if f := m.frames[t]; f != nil && f.session == "" {
		delete(m.frames, t)
		m.maybeSettled()
	}
}

// handleFrameDetached says whether the session was a frame's.
func (m *Anchor) handleFrameDetached(s messages.SessionID) bool {
	b := m.bridges[s]
	if b == nil || b.Target == b.Page {
		return false
	}
	m.sessionGone(s)
	if f := m.frames[b.Target]; f != nil && f.session == s {
		delete(m.frames, b.Target)
		if f.isRepeated && !m.isLeaving {
			m.attachToFrame(mail.CoverFrame{Page: f.order.Page, Frame: f.order.Frame})
		}
	}
	m.maybeSettled()
	return true
}

// leaveFrames gives up the frames of a page, or all ("").
func (m *Anchor) leaveFrames(page messages.TargetID) {
	for _, t := range slices.Sorted(maps.Keys(m.frames)) {
		f := m.frames[t]
		if page != "" && f.order.Page != page {
			continue
		}
		delete(m.frames, t)
		if f.session != "" {
			m.sessionGone(f.session)
			m.do(detachFrom(effect.Tag{Kind: effect.TagNone}, f.session))
		}
	}
}

// giveBack gives the pages their own functions before the task leaves them, as the
// primary's sessions do, which may be gone. What waits is theirs, or goes with us.
func (m *Anchor) giveBack() {
	for _, s := range slices.Sorted(maps.Keys(m.bridges)) {
		m.bridges[s].GiveBack()
	}
}

// sessionGone forgets a session.
func (m *Anchor) sessionGone(s messages.SessionID) {
	if m.bridges[s] == nil {
		return
	}
	delete(m.bridges, s)
	if m.isBridgeOn {
		m.do(effect.ToDialog{Msg: mail.SessionGone{Role: messages.RoleAnchor, Session: s}})
	}
}

func (m *Anchor) bridgeReplied(r effect.Replied) {
	switch b := m.bridges[r.Tag.Session]; {
	case b != nil:
		b.Replied(r)
		m.maybeCovered(b.Page)
		m.maybeSettled()
	case r.Tag.ID != "":
		// An answer that was under way when its session ended. Another link that has the
		// page may send it again: it names the call that it is for.
		m.do(effect.ToDialog{Msg: mail.DialogHandled{Dialog: r.Tag.ID, Session: r.Tag.Session, Err: effect.SessionEnded()}})
	}
}

// FromFrame is what a session of the anchor says of its frames and their bridge.
type FromFrame struct {
	Session messages.SessionID
	Event   any
}

func (m *Anchor) fromFrame(e FromFrame) {
	if d, ok := e.Event.(mail.FrameDetached); ok && !d.IsSwap {
		m.frameRemoved(e.Session, d.Frame)
	}
	b := m.bridges[e.Session]
	if b == nil {
		return
	}
	switch in := e.Event.(type) {
	case bridge.ScriptRuns:
		b.ScriptRuns(in)
	case bridge.CallPaused:
		b.Paused(in)
	case bridge.CallSaid, bridge.DocumentSaid:
		b.RequestWord(in)
	case bridge.CallGarbled:
		b.Unread()
	case bridge.Pause:
		b.TakeForeignPause(in)
	case decode.Crashed:
		b.Crashed()
	case decode.Revived:
		b.AttachAnew()
	case mail.FrameNavigated:
		b.Navigated(in.Frame.ID, string(in.Frame.ID) == string(b.Target))
	case mail.FrameDetached:
		b.FrameDetached(in.Frame)
	}
}

// frameRemoved has the dialog of a frame that is gone answered by no link (C15): without a
// primary only the anchor hears of its end.
func (m *Anchor) frameRemoved(s messages.SessionID, frame messages.FrameID) {
	for t, p := range m.pages.All() {
		if p.session == s {
			m.do(effect.ToDialog{Msg: mail.FramesRemoved{Gen: m.cfg.Gen, Page: t, Frames: []messages.FrameID{frame}}})
			return
		}
	}
}

// attachBridge also tells the bridge of who has ended before this link had the page.
func (m *Anchor) attachBridge(b *bridge.Machine) {
	b.Attach()
	for _, l := range m.owned.others[b.Page].Ended {
		b.SiblingLeft(l)
	}
}

func (m *Anchor) siblingLeft(l bridge.SiblingLeft) {
	for _, s := range slices.Sorted(maps.Keys(m.bridges)) {
		if b := m.bridges[s]; slices.Contains(l.Pages, b.Page) {
			b.SiblingLeft(l)
		}
	}
}
