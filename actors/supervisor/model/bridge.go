package model

import (
	"cmp"
	"maps"
	"slices"

	"holdfast/actors/session/bridge"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// IsBridged says whether the task's dialogs are to come over the bridge.
func (m *Task) IsBridged() bool {
	return m.Spec.Bridge == messages.BridgeOn || m.Spec.Bridge == messages.BridgeAuto && m.IsBridgeForced
}

// LinkBridge is what a link that is about to be dialled is to have.
func (m *Task) LinkBridge() bridge.Settings {
	on := m.IsBridged() && m.CanHear()
	return bridge.Settings{IsOn: on, By: m.BridgeBy, Past: m.past(on), Epoch: m.Epoch, Secret: m.BridgeSecret}
}

// past are the mechanisms whose functions may still be on in documents from before, where
// the bridge is on by the task's, or is not.
func (m *Task) past(on bool) mail.Mechanisms {
	if on {
		return m.BridgedBy.Without(m.BridgeBy)
	}
	return m.BridgedBy
}

// SessionBridge is what the sessions of the link are to have.
func (m *Task) SessionBridge() bridge.Settings {
	b := m.LinkBridge()
	b.IsOn = b.IsOn && !m.IsUnheard()
	b.Past = m.past(b.IsOn)
	return b
}

// ShowBridge notes what the task wants, and by which mechanism, and has the snapshot say so.
func (m *Task) ShowBridge() {
	m.Conn.Bridge, m.Conn.BridgeBy = messages.BridgeNative, ""
	if m.IsBridged() {
		m.BridgedBy = m.BridgedBy.With(m.BridgeBy)
		m.Conn.Bridge, m.Conn.BridgeBy = messages.BridgeOn, messages.BridgeBy(m.BridgeBy.String())
	}
}

// BridgeOrder is what tells a session of the bridge that is wanted now.
func (m *Task) BridgeOrder() mail.SetBridge {
	b := m.SessionBridge()
	return mail.SetBridge{IsOn: b.IsOn, By: b.By, Epoch: b.Epoch}
}

// IsUnheard says that requests are the task's mechanism, and that the link's browser does
// not let them be heard any more. No session has the bridge then; the next link asks
// again.
func (m *Task) IsUnheard() bool {
	return m.IsBridged() && m.BridgeBy == mail.ByRequest && m.CannotHearRequests
}

// PageBridge is what the contract says of a page's bridge.
func (m *Task) PageBridge(t messages.TargetID) messages.Bridge { return bridgeOf(m.pageBridges(), t) }

// pageBridges are those of all pages that are not native: a page has that of all
// its sessions, while it is wanted, and of any, while it is not any more.
func (m *Task) pageBridges() map[messages.TargetID]messages.Bridge {
	wanted := m.IsBridged()
	var bridges map[messages.TargetID]messages.Bridge // nearly always there are none
	for _, e := range m.Sessions.All() {
		if !wanted && !e.IsBridged {
			continue
		}
		before, seen := bridges[e.Cfg.Page]
		switch {
		case wanted && (e.IsUnbridged || e.HasSlipped), before == messages.BridgeUnavailable:
			smallmap.Put(&bridges, e.Cfg.Page, messages.BridgeUnavailable)
		case wanted && !e.IsBridged:
			smallmap.Put(&bridges, e.Cfg.Page, messages.BridgeNative)
		case e.IsBridged && (!wanted || !seen):
			smallmap.Put(&bridges, e.Cfg.Page, messages.BridgeOn)
		}
	}
	return bridges
}

func bridgeOf(bridges map[messages.TargetID]messages.Bridge, t messages.TargetID) messages.Bridge {
	return cmp.Or(bridges[t], messages.BridgeNative)
}

// KeptNative are those that a new anchor is told of.
func (m *Task) KeptNative() []messages.TargetID { return slices.Sorted(maps.Keys(m.Native)) }

// BridgeHeals is for a page's new document, which has the bridge from its start.
func (m *Task) BridgeHeals(t messages.TargetID) {
	for _, e := range m.Sessions.All() {
		if e.Cfg.Page == t {
			e.HasSlipped = false
		}
	}
}

// RequestLabel is that of a session's requests.
func (m *Task) RequestLabel(e *Session) string {
	if e.Label == "" {
		e.Label = m.BridgeSecret.Label(e.Cfg.Target)
	}
	return e.Label
}
