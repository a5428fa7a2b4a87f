package supervisor

import (
	"cmp"
	"maps"
	"slices"

	"holdfast/actors/session/bridge"
	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// bridged says whether the task's dialogs are to come over the bridge.
func (m *Machine) bridged() bool {
	return m.spec.Bridge == messages.BridgeOn || m.spec.Bridge == messages.BridgeAuto && m.switched
}

// linkBridge is what a link that is about to be dialled is to have.
func (m *Machine) linkBridge() bridge.Settings {
	return bridge.Settings{On: m.bridged(), By: m.by, Past: m.past(m.bridged()), Epoch: m.epoch, Secret: m.bridge}
}

// past are the mechanisms whose functions may still be on in documents from before, where
// the bridge is on by the task's, or is not.
func (m *Machine) past(on bool) mail.Mechanisms {
	if on {
		return m.had.Without(m.by)
	}
	return m.had
}

// sessionBridge is what the sessions of the link are to have.
func (m *Machine) sessionBridge() bridge.Settings {
	b := m.linkBridge()
	b.On = b.On && !m.unheard()
	b.Past = m.past(b.On)
	return b
}

// showBridge notes what the task wants, and by which mechanism, and has the snapshot say so.
func (m *Machine) showBridge() {
	m.conn.Bridge, m.conn.BridgeBy = messages.BridgeNative, ""
	if m.bridged() {
		m.had = m.had.With(m.by)
		m.conn.Bridge, m.conn.BridgeBy = messages.BridgeOn, messages.BridgeBy(m.by.String())
	}
}

// bridgeIn is what an actor of session s is to make of the bridge that is there.
func (m *Machine) bridgeIn(s messages.SessionID) bridge.Settings {
	b := m.sessionBridge()
	if e := m.sessions.At(s); e != nil {
		b.Script = e.script
	}
	return b
}

// setBridge follows a spec, or a browser, that wants another bridge.
func (m *Machine) setBridge() {
	if m.bridged() == (m.conn.Bridge == messages.BridgeOn) {
		return
	}
	m.showBridge()
	m.epoch++
	m.tellConnection()
	if m.bridged() && m.by == mail.ByRequest {
		m.askForRequests()
	} else {
		m.tellBridge()
	}
}

func (m *Machine) bridgeOrder() mail.SetBridge {
	b := m.sessionBridge()
	return mail.SetBridge{On: b.On, By: b.By, Epoch: b.Epoch}
}

func (m *Machine) tellBridge() {
	clear(m.native) // it is asked for anew, by all
	for _, s := range m.sessionOrder() {
		e := m.sessions.At(s)
		e.cfg.Bridge, e.unbridged = m.sessionBridge(), m.unheard()
		m.do(ToSession{s, m.bridgeOrder()})
	}
	order := m.bridgeOrder()
	if m.toAnchor(order); !order.On {
		m.forgetRequests(messages.RoleAnchor) // it releases what it holds
	}
	m.coverFrames("")
	for _, t := range m.order {
		m.pageChanged(t)
	}
}

// bridgeRefused notes where the bridge cannot work: dialogs stay native there.
func (m *Machine) bridgeRefused(r mail.BridgeRefused) {
	e := m.sessions.At(r.Session)
	if e == nil || r.Gen != m.gen || !e.cfg.Bridge.On {
		return
	}
	m.mechanismRefused(r)
	if r.By == m.by {
		m.keepNative(e.cfg.Target, true)
	}
	if e.unbridged {
		return
	}
	e.unbridged = true
	m.pageChanged(e.cfg.Page)
}

// bridgeStands notes what a session's documents have: it is said of a page once it
// is so, and not once it is wanted.
func (m *Machine) bridgeStands(b mail.BridgeStands) {
	e := m.sessions.At(b.Session)
	if e == nil || b.Role != messages.RolePrimary || b.Gen != m.gen {
		return
	}
	m.given = m.given || b.On && m.by == mail.ByDebugger
	if b.On {
		m.keepNative(e.cfg.Target, false)
	}
	before := m.pageBridge(e.cfg.Page)
	if !e.bridged {
		e.stood, e.slipped = m.now, false
	}
	if e.bridged, e.unbridged = b.On, b.Unable || m.unheard(); m.pageBridge(e.cfg.Page) != before {
		m.pageChanged(e.cfg.Page)
	}
	m.maybeHearNothing()
}

// bridgeSlipped notes that a document opens native dialogs though it has the bridge, be it
// that its page has turned it off: until the page has another, no caller is to rely on it. An
// opener that asks in its popup's first document is asked natively by our own functions.
func (m *Machine) bridgeSlipped(d *messages.Dialog) {
	e, p := m.sessions.At(m.holder(*d)), m.pages.At(d.TargetID)
	if d.Path != messages.PathNative || d.Type == messages.DialogBeforeUnload || e == nil || p == nil || !e.bridged || e.slipped || d.Heard.Before(e.stood) {
		return
	}
	if p.info.Opener != "" && (p.info.URL == "" || p.info.URL == "about:blank") {
		return
	}
	e.slipped = true
	m.pageChanged(d.TargetID)
}

// bridgeHeals is for a page's new document, which has the bridge from its start.
func (m *Machine) bridgeHeals(t messages.TargetID) {
	for _, e := range m.sessions.All() {
		if e.cfg.Page == t {
			e.slipped = false
		}
	}
}

// pageBridge is what the contract says of a page's bridge.
func (m *Machine) pageBridge(t messages.TargetID) messages.Bridge {
	return bridgeOf(m.pageBridges(), t)
}

// pageBridges are those of all pages that are not native: a page has that of all
// its sessions, while it is wanted, and of any, while it is not any more.
func (m *Machine) pageBridges() map[messages.TargetID]messages.Bridge {
	wanted := m.bridged()
	var bridges map[messages.TargetID]messages.Bridge // nearly always there are none
	for _, e := range m.sessions.All() {
		if !wanted && !e.bridged {
			continue
		}
		before, seen := bridges[e.cfg.Page]
		switch {
		case wanted && (e.unbridged || e.slipped), before == messages.BridgeUnavailable:
			smallmap.Put(&bridges, e.cfg.Page, messages.BridgeUnavailable)
		case wanted && !e.bridged:
			smallmap.Put(&bridges, e.cfg.Page, messages.BridgeNative)
		case e.bridged && (!wanted || !seen):
			smallmap.Put(&bridges, e.cfg.Page, messages.BridgeOn)
		}
	}
	return bridges
}

func bridgeOf(bridges map[messages.TargetID]messages.Bridge, t messages.TargetID) messages.Bridge {
	return cmp.Or(bridges[t], messages.BridgeNative)
}

// leaveBridge gives the pages back their own functions before the task leaves
// them.
func (m *Machine) leaveBridge() {
	if !m.bridged() {
		return
	}
	for _, s := range m.sessionOrder() {
		m.do(ToSession{s, mail.SetBridge{Epoch: m.epoch + 1}})
	}
}

// keepNative has the anchor do without the bridge where the primary has to, also over
// a reconnect, until it is given it.
func (m *Machine) keepNative(t messages.TargetID, on bool) {
	if m.native[t] == on {
		return
	}
	if delete(m.native, t); on {
		if len(m.native) >= effect.MaxSessions {
			clear(m.native) // of frames that went with their link
		}
		smallmap.Put(&m.native, t, true)
	}
	m.toAnchor(mail.KeepNative{Target: t, On: on})
}

// keptNative are those that a new anchor is told of.
func (m *Machine) keptNative() []messages.TargetID { return slices.Sorted(maps.Keys(m.native)) }

// frameBoxed passes on what a parent's session knows of a frame's.
func (m *Machine) frameBoxed(b mail.FrameBoxed) {
	e := m.sessions.At(b.Session)
	if e == nil || b.Gen != m.gen {
		return
	}
	e.boxed, e.shut = true, b.Shut
	m.do(ToSession{b.Session, b})
	m.coverFrame(e)
}

// coverFrame has the anchor attached to a frame of another process as well.
func (m *Machine) coverFrame(e *sessionEntry) {
	if m.bridged() && !e.cfg.IsPage && !m.beingFreed(e.cfg.Page) {
		m.toAnchor(mail.CoverFrame{Page: e.cfg.Page, Frame: e.cfg.Target, Boxed: e.boxed, Shut: e.shut})
	}
}

// coverFrames covers those of a page, or all ("").
func (m *Machine) coverFrames(page messages.TargetID) {
	if !m.bridged() || !m.anchor.running {
		return
	}
	for _, s := range m.sessionOrder() {
		if e := m.sessions.At(s); page == "" || e.cfg.Page == page {
			m.coverFrame(e)
		}
	}
}

// coverPage has the anchor attached to a page again, and to its frames.
func (m *Machine) coverPage(t messages.TargetID) {
	m.toAnchor(mail.CoverPage{Page: t})
	m.coverFrames(t)
}
