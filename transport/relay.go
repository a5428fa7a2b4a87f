package transport

import (
	"holdfast/messages"
)

// Relayed takes the events of a relayed session: one call at a time, in the order of the
// wire, on the reader's goroutine. Msg is the whole message in Chrome's own form, with the
// session's id as its last member, and method the event's name in it; both are valid during
// the call only. It must not block; it may call the Mux.
type Relayed func(msg, method []byte)

// Relay gives every event of a session to r as the browser wrote it, whatever
// [DialOptions.Events] names. It is for the clients of the gateway, whose own sessions no
// machine of the node listens to. Called on the reader's goroutine, by a Done or a Relayed,
// it comes before the session's first event.
func (m *Mux) Relay(session messages.SessionID, r Relayed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end != nil {
		return
	}
	m.forgetLocked(session)
	if m.relays == nil {
		m.relays = make(map[messages.SessionID]Relayed)
	}
	m.relays[session] = r
	m.relaying.Store(true)
}

// Unrelay ends Relay. One call of the session's Relayed may still be under way.
func (m *Mux) Unrelay(session messages.SessionID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.relays, session)
	m.relaying.Store(len(m.relays) > 0)
}

// relayed returns where the events of a session go, nil where it is not relayed.
func (m *Mux) relayed(session []byte) Relayed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.relays[messages.SessionID(session)]
}

// relay hands an event of a relayed session on, and says whether it was one.
func (m *Mux) relay(msg []byte) bool {
	if !m.relaying.Load() {
		return false
	}
	method := peekMethod(msg)
	if method == nil {
		return false
	}
	session := trailingSession(msg)
	if session == nil {
		return false
	}
	to := m.relayed(session)
	if to == nil {
		return false
	}
	m.settle()
	m.stats.EventsDelivered.Add(1)
	to(msg, method)
	return true
}

// SplitSession parts a message of a relayed session, in Chrome's own form, from the member
// that names the session. Head is the message up to that member, without the last brace.
func SplitSession(msg []byte) (head, session []byte) {
	session = trailingSession(msg)
	if session == nil {
		return msg[:len(msg)-1], nil
	}
	return withoutSession(msg, session), session
}
