package mechanism

import (
	"holdfast/actors/session/effect"
	"holdfast/actors/supervisor/model"
	"holdfast/actors/supervisor/step"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Machine decides for one task by which mechanism its dialogs come over the bridge, and which of its
// sessions have it.
type Machine struct {
	*step.Work

	isAsked   bool                               // the browser, whether requests can be heard
	isHearing bool                               // the browser has been told to hear them
	isGiven   bool                               // it has given a session of this link its debugger
	waiting   map[string]mail.RequestHeld        // the newest of each label
	needed    map[messages.TargetID]model.Needed // by page, until it is known to be there and the dialog's renderer not to have crashed
}

// New returns the machine of a task that has not begun.
func New(w *step.Work) Machine { return Machine{Work: w} }

// FollowSpec follows a spec, or a browser, that wants another bridge.
func (m *Machine) FollowSpec() {
	if m.IsBridged() == (m.Conn.Bridge == messages.BridgeOn) {
		return
	}
	m.ShowBridge()
	m.Epoch++
	m.TellConnection()
	if m.IsBridged() && m.BridgeBy == mail.ByRequest && m.CanHear() {
		m.askForRequests()
	} else {
		m.tellBridge()
	}
}

func (m *Machine) tellBridge() {
	clear(m.Native) // it is asked for anew, by all
	for _, s := range m.SessionOrder() {
		e := m.Sessions.At(s)
		e.Cfg.Bridge, e.IsUnbridged = m.SessionBridge(), m.IsUnheard()
		m.ToSession(s, m.BridgeOrder())
	}
	order := m.BridgeOrder()
	if m.ToAnchor(order); !order.IsOn {
		m.forgetRequests(messages.RoleAnchor) // it releases what it holds
	}
	m.CoverFrames("")
	for _, t := range m.Order {
		m.PageChanged(t)
	}
}

// Refused notes where the bridge cannot work: dialogs stay native there.
func (m *Machine) Refused(r mail.BridgeRefused) {
	e := m.Sessions.At(r.Session)
	if e == nil || r.Gen != m.Gen || !e.Cfg.Bridge.IsOn {
		return
	}
	m.mechanismRefused(r)
	if r.By == m.BridgeBy {
		m.KeepNative(e.Cfg.Target, true)
	}
	if e.IsUnbridged {
		return
	}
	e.IsUnbridged = true
	m.PageChanged(e.Cfg.Page)
}

// Stands notes what a session's documents have: it is said of a page once it
// is so, and not once it is wanted.
func (m *Machine) Stands(b mail.BridgeStands) {
	e := m.Sessions.At(b.Session)
	if e == nil || b.Role != messages.RolePrimary || b.Gen != m.Gen {
		return
	}
	m.isGiven = m.isGiven || b.IsOn && m.BridgeBy == mail.ByDebugger
	if b.IsOn {
		m.KeepNative(e.Cfg.Target, false)
	}
	before := m.PageBridge(e.Cfg.Page)
	if !e.IsBridged {
		e.Stood, e.HasSlipped = m.Now, false
	}
	if e.IsBridged, e.IsUnbridged = b.IsOn, b.IsUnable || m.IsUnheard(); m.PageBridge(e.Cfg.Page) != before {
		m.PageChanged(e.Cfg.Page)
	}
	m.MaybeHearNothing()
}

// Slipped notes that a document opens native dialogs though it has the bridge, be it
// that its page has turned it off: until the page has another, no caller is to rely on it. An
// opener that asks in its popup's first document is asked natively by our own functions.
func (m *Machine) Slipped(d *messages.Dialog) {
	e, p := m.Sessions.At(m.Holder(*d)), m.Pages.At(d.TargetID)
	if d.Path != messages.PathNative || d.Type == messages.DialogBeforeUnload || e == nil || p == nil || !e.IsBridged || e.HasSlipped || d.Heard.Before(e.Stood) {
		return
	}
	if p.Info.Opener != "" && (p.Info.URL == "" || p.Info.URL == "about:blank") {
		return
	}
	e.HasSlipped = true
	m.PageChanged(d.TargetID)
}

// Leave gives the pages back their own functions before the task leaves
// them.
func (m *Machine) Leave() {
	if !m.IsBridged() {
		return
	}
	for _, s := range m.SessionOrder() {
		m.ToSession(s, mail.SetBridge{Epoch: m.Epoch + 1})
	}
}

// KeepNative has the anchor do without the bridge where the primary has to, also over
// a reconnect, until it is given it.
func (m *Machine) KeepNative(t messages.TargetID, on bool) {
	if m.Native[t] == on {
		return
	}
	if delete(m.Native, t); on {
		if len(m.Native) >= effect.MaxSessions {
			clear(m.Native) // of frames that went with their link
		}
		smallmap.Put(&m.Native, t, true)
	}
	m.ToAnchor(mail.KeepNative{Target: t, IsOn: on})
}

// FrameBoxed passes on what a parent's session knows of a frame's.
func (m *Machine) FrameBoxed(b mail.FrameBoxed) {
	e := m.Sessions.At(b.Session)
	if e == nil || b.Gen != m.Gen {
		return
	}
	e.IsBoxKnown, e.IsShut = true, b.IsShut
	m.ToSession(b.Session, b)
	m.CoverFrame(e)
}
