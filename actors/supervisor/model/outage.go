package model

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

// LastError is err as snapshots show it, without the address they show beside it.
func (m *Task) LastError(err error) string {
	if err == nil {
		return ""
	}
	text := redact.Text(strings.TrimPrefix(ReasonOf(err), "browser at "+m.Conn.Endpoint+": "))
	if len(text) <= MaxLastError {
		return text
	}
	cut := MaxLastError - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// LostBy is why a link that stood was lost.
func LostBy(err error) messages.ReconnectCause {
	var link *transport.LinkError
	if errors.As(err, &link) {
		switch link.Cause {
		case transport.CauseHalfOpen:
			return messages.CauseHalfOpen
		case transport.CauseFlood:
			return messages.CauseFlood
		}
	}
	return messages.CauseClosed
}

// IsShortage says that a link failed for want of something of this node's own. No
// browser is at fault then, and none is given up for it.
func IsShortage(err error) bool {
	_, ok := errors.AsType[*transport.ShortageError](err)
	return ok
}

// OutageBegins notes the loss of a primary link that stood.
func (m *Task) OutageBegins(now time.Time, err error) {
	m.LostAt, m.LostBy = now, LostBy(err)
	m.Conn.RecoveringSince, m.Conn.Attempt = messages.SecondsOf(now), 0
	m.Conn.GiveUpAfterS = m.Spec.GiveUpAfter().Seconds()
	m.Conn.LastError = m.LastError(err)
}

// OutageEnds notes that the link stands again, or that it is not dialled any more.
func (m *Task) OutageEnds() {
	m.LostAt = time.Time{}
	m.Conn.RecoveringSince, m.Conn.Attempt, m.Conn.GiveUpAfterS, m.Conn.LastError = 0, 0, 0, ""
}
