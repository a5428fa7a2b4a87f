package task

import (
	"slices"

	"holdfast/actors/supervisor/party"
	"holdfast/actors/supervisor/step"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// The clients of the gateway are a party of the task's pages. They leave a page before it is
// released (C19) or closed with a dialog of a frame (C15), and come back behind that; at a page
// that may not be left (C58) they stay, though one of them has gone.

// askClients has the clients keep off a page for as long as it is being freed.
func (m *Machine) askClients(t messages.TargetID) { smallmap.Put(&m.withoutClients, t, true) }

// clientsAttached begins or ends the time in which the gateway has clients on the task.
func (m *Machine) clientsAttached(isOn bool) {
	if isOn {
		m.Parties.Join(party.Clients)
		return
	}
	m.DoAll(m.Parties.Gone(party.Clients))
	for t := range m.clientsStay {
		m.clientsLeft(t)
	}
}

// clientsLeft notes that the clients have left a page.
func (m *Machine) clientsLeft(t messages.TargetID) {
	m.DoAll(m.Parties.Left(party.Clients, t))
	if !m.clientsStay[t] {
		return
	}
	if delete(m.clientsStay, t); !m.Anchor.IsAlive() {
		m.leaveBrowser()
	}
}

// clientContexts notes which browser contexts of clients there are.
func (m *Machine) clientContexts(c mail.ClientContexts) {
	m.Contexts = c.IDs
	if m.Conn.Primary != messages.LinkDown {
		m.ToBrowser(c) // the next link begins with them
	}
	m.ToAnchor(c)
}

// partWithClients has the clients leave the pages that are freed at the task's end.
func (m *Machine) partWithClients() {
	if !m.Parties.Has(party.Clients) {
		return
	}
	for _, t := range m.HeldAtTheEnd() {
		m.askClients(t)
		smallmap.Put(&m.clientsStay, t, true)
	}
}

// tellClients shows at the end of a step which pages the clients are to keep off, and which of
// them they may not leave, and which the standby is to keep off.
func (m *Machine) tellClients() {
	var now step.ClientPages
	for t := range m.withoutClients {
		if m.IsBeingFreed(t) || m.IsStopping() {
			now.Off = append(now.Off, t)
		} else {
			delete(m.withoutClients, t)
		}
	}
	slices.Sort(now.Off)
	if !m.Parties.Has(party.Clients) {
		now.Off = nil
	} else {
		for _, t := range m.Order {
			if m.IsUnsettled(t) {
				now.Kept = append(now.Kept, t)
			}
		}
	}
	now.StandbyOff = m.standbyOff()
	if slices.Equal(now.Off, m.clientPages.Off) && slices.Equal(now.Kept, m.clientPages.Kept) && slices.Equal(now.StandbyOff, m.clientPages.StandbyOff) {
		return
	}
	m.clientPages = now
	m.Do(now)
}
