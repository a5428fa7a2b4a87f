package transport

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// The pace of the keepalive (requirement R15).
const (
	DefaultKeepAlive = 5 * time.Second
	pongTimeout      = 4 * time.Second
	// suspicious is how quiet a link has to be for a suspicion to count.
	suspicious = 250 * time.Millisecond
	// unreadPatience is how long the reader has for what the socket holds already.
	unreadPatience = 100 * time.Millisecond
)

// Suspect has the link pinged at once if it has been quiet for a moment: who
// should have had an answer by now had none. It does not wait.
func (m *Mux) Suspect() {
	if m.opts.KeepAlive <= 0 || m.quiet() < suspicious {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	// While a ping is out the timer does not run, and that ping tells.
	if m.end == nil && m.idleTimer.Stop() {
		m.isSuspected = true
		m.idleTimer.Reset(0)
	}
}

// now is the time since the link began.
func (m *Mux) now() time.Duration { return time.Since(m.born) }

// quiet is how long ago the peer last sent anything.
func (m *Mux) quiet() time.Duration {
	return m.now() - time.Duration(m.heard.Load())
}

// checkIdle runs on the idle timer's goroutine.
func (m *Mux) checkIdle() {
	m.mu.Lock()
	if m.end != nil {
		m.mu.Unlock()
		return
	}
	busy, suspected := m.isWriting, m.isSuspected
	m.isSuspected = false
	m.running.Add(1)
	m.mu.Unlock()
	defer m.running.Done()
	wait := m.opts.KeepAlive - m.quiet()
	switch {
	case wait > 0 && !suspected:
	case busy:
		// A long command is being written, and a ping would queue behind it. The write has
		// a deadline of its own.
		wait = m.opts.KeepAlive
	default:
		m.ping()
		wait = m.opts.KeepAlive
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end == nil {
		m.idleTimer.Reset(wait)
	}
}

// ping returns when the peer has shown a sign of life, or the link has ended.
// Anything that comes is a sign: a pong may stand behind a long reply.
func (m *Mux) ping() {
	m.stats.Pings.Add(1)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var verdict *time.Timer
	verdict = time.AfterFunc(math.MaxInt64, func() {
		if m.quiet() < m.conn.pong {
			cancel()
			return
		}
		if more := m.patience(); more > 0 {
			verdict.Reset(more)
			return
		}
		end := &LinkError{Cause: CauseHalfOpen, Err: fmt.Errorf("no answer to a ping within %v", m.conn.pong)}
		m.fail(end)
		if m.conn.silent != nil {
			m.conn.silent(end)
		}
	})
	verdict.Reset(m.conn.pong)
	defer verdict.Stop()
	if err := m.conn.Ping(ctx); err == nil {
		m.hear()
	} else if !errors.Is(err, context.Canceled) {
		m.fail(classify(err))
	}
}

// patience is how much longer a silent peer is waited for, 0 if it has had its time. It
// reads a long command before it answers a ping behind it; and what it has sent may be
// unread, where this process gets no time.
func (m *Mux) patience() time.Duration {
	if m.conn.hasUnread() {
		return unreadPatience
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.busyUntil - m.now()
}
