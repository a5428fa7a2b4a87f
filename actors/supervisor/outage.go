package supervisor

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"holdfast/internal/redact"
	"holdfast/messages"
	"holdfast/transport"
)

// MaxLastError bounds what a snapshot says of the last failure of a link, in bytes. A
// part of it may be the browser's.
const MaxLastError = 200

// outageBegins notes the loss of a primary link that stood.
func (m *Machine) outageBegins(now time.Time, err error) {
	m.lostAt, m.lostBy = now, lostBy(err)
	m.conn.RecoveringSince, m.conn.Attempt = messages.SecondsOf(now), 0
	m.conn.GiveUpAfterS = m.spec.GiveUpAfter().Seconds()
	m.conn.LastError = m.lastError(err)
}

// outageEnds notes that the link stands again, or that it is not dialled any more.
func (m *Machine) outageEnds() {
	m.lostAt = time.Time{}
	m.conn.RecoveringSince, m.conn.Attempt, m.conn.GiveUpAfterS, m.conn.LastError = 0, 0, 0, ""
}

// lastError is err as snapshots show it, without the address they show beside it.
func (m *Machine) lastError(err error) string {
	if err == nil {
		return ""
	}
	text := redact.Text(strings.TrimPrefix(reasonOf(err), "browser at "+m.conn.Endpoint+": "))
	if len(text) <= MaxLastError {
		return text
	}
	cut := MaxLastError - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// patience follows a spec that wants a lost link to be tried for longer, or not so long.
func (m *Machine) patience(before time.Duration) {
	after := m.spec.GiveUpAfter()
	if after == before {
		return
	}
	m.do(SetPatience{after})
	if !m.lostAt.IsZero() {
		m.conn.GiveUpAfterS = after.Seconds()
		m.tellConnection()
	}
}

// isShortage says that a link failed for want of something of this node's own. No
// browser is at fault then, and none is given up for it.
func isShortage(err error) bool {
	_, ok := errors.AsType[*transport.ShortageError](err)
	return ok
}
