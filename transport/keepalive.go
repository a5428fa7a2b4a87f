package transport

import (
	"fmt"
	"time"

	"holdfast/internal/ws"
)

// The pace of the keepalive (requirement R15).
const (
	DefaultKeepAlive = 5 * time.Second
	pongTimeout      = 4 * time.Second
	// suspicious is how quiet a link has to be for a suspicion to count.
	suspicious = 250 * time.Millisecond
)

// Suspect has the link pinged at once if it has been quiet for a moment: who
// should have had an answer by now had none. It does not wait.
func (m *Mux) Suspect() {
	if m.opts.KeepAlive <= 0 || m.quiet() < suspicious {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	// While a ping is out, that ping tells.
	if m.end == nil && !m.unansweredLocked() && m.idleTimer.Stop() {
		m.suspected = true
		m.idleTimer.Reset(0)
	}
}

// now is the time since the link began.
func (m *Mux) now() time.Duration { return time.Since(m.born) }

// quiet is how long ago the peer last sent anything.
func (m *Mux) quiet() time.Duration { return m.now() - time.Duration(m.heard.Load()) }

// unansweredLocked says whether nothing has come since a ping.
func (m *Mux) unansweredLocked() bool { return m.pingedAt > time.Duration(m.heard.Load()) }

// checkIdle runs on the idle timer's goroutine.
func (m *Mux) checkIdle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end != nil {
		return
	}
	suspected, unanswered := m.suspected, m.unansweredLocked()
	m.suspected, m.pingedAt = false, 0
	wait := m.opts.KeepAlive - m.quiet()
	switch {
	case unanswered:
		// Anything that comes is a sign of life: a pong may stand behind a long
		// reply.
		m.failLocked(&LinkError{Cause: CauseHalfOpen, Err: fmt.Errorf("no answer to a ping within %v", pongTimeout)})
		return
	case wait > 0 && !suspected:
	case m.writing:
		// A long command is on its way, and a ping would queue behind it. The
		// write has a deadline of its own.
		wait = m.opts.KeepAlive
	default:
		m.stats.Pings.Add(1)
		m.controlLocked(ws.Ping, nil)
		m.pingedAt = m.now()
		wait = pongTimeout
	}
	m.idleTimer.Reset(wait)
}
