package transport

import (
	"context"
	"errors"
	"time"

	"github.com/coder/websocket"
)

// writeTimeout is how long the peer may take to accept a command of size
// bytes before the link counts as stalled. Chrome took 2.4 s for 64 MB (M15).
func writeTimeout(size int) time.Duration { return 10*time.Second + digestion(size) }

// digestion is how long the peer may be busy with a command of size bytes alone.
func digestion(size int) time.Duration { return time.Duration(size) * time.Second >> 20 }

// burdenLocked notes that the peer is given a command of size bytes, behind those that it
// may not have read yet.
func (m *Mux) burdenLocked(size int) {
	now := m.now()
	m.busyUntil = min(max(m.busyUntil, now)+digestion(size), now+digestion(maxQueuedBytes))
}

// readerGrace is how long a failed write waits for the reader to say why.
const readerGrace = 200 * time.Millisecond

func (m *Mux) queuedLocked() int { return m.queue.len() + m.guests.len() }

// enqueueLocked hands a command to the writer, and starts one if there is none.
func (m *Mux) enqueueLocked(cmd *command) {
	m.queuedBytes += len(cmd.buf)
	if cmd.isGuest {
		m.guests.push(cmd)
	} else {
		m.queue.push(cmd)
	}
	if !m.isWriting {
		m.startWriterLocked(nil)
	}
}

func (m *Mux) startWriterLocked(first *command) {
	m.isWriting = true
	m.running.Add(1)
	go m.write(first)
}

// writeDirectly writes a command on the goroutine of its caller, who has set writing. That
// saves a switch to another goroutine, which is most of what a call costs. It never waits:
// the writer goroutine gets what the socket would not take at once, and what was queued
// meanwhile.
func (m *Mux) writeDirectly(cmd *command) {
	rest := cmd
	if m.conn.taker.canWrite() {
		if !m.writeCommand(cmd) {
			return
		}
		rest = nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.end != nil: // writing stays set, as where a write fails
	case rest != nil:
		m.queuedBytes += len(rest.buf)
		m.startWriterLocked(rest)
	case m.queuedLocked() > 0:
		m.startWriterLocked(nil)
	default:
		m.isWriting = false
	}
}

// writeCommand says whether the command was written. If it was not, the link ends, and
// writing stays set, so that no further write begins.
func (m *Mux) writeCommand(cmd *command) bool {
	size := len(cmd.buf)
	if cmd.needsPermission && m.isWithheld(cmd) {
		return true
	}
	// No deadline by context: see reader.next.
	err := m.conn.Write(context.Background(), websocket.MessageText, cmd.buf)
	if held, ok := errors.AsType[*withheldError](err); ok {
		m.withhold(cmd, held.Err)
		return true
	}
	cmd.release()
	if err != nil {
		// The reader has the better reason, a close frame perhaps that is still
		// in the socket's buffer: it may speak first.
		time.AfterFunc(readerGrace, func() { m.fail(classify(err)) })
		return false
	}
	m.stats.MessagesOut.Add(1)
	m.stats.BytesOut.Add(uint64(size))
	return true
}

// write is the writer's goroutine. It ends when there is nothing left to
// write: starting one costs less than keeping a stack for every idle link.
func (m *Mux) write(cmd *command) {
	defer m.running.Done()
	if cmd == nil {
		cmd = m.nextCommand()
	}
	for ; cmd != nil; cmd = m.nextCommand() {
		size := len(cmd.buf)
		m.mu.Lock()
		now := m.now()
		if !m.conn.isPoliced {
			m.writeBy = now + writeTimeout(size)
			m.sweepByLocked(m.writeBy, now)
		}
		m.burdenLocked(size)
		m.mu.Unlock()
		ok := m.writeCommand(cmd)
		m.mu.Lock()
		m.writeBy = never
		m.busyUntil = max(m.busyUntil, m.now()+digestion(size))
		m.queuedBytes -= size
		m.mu.Unlock()
		if !ok {
			return
		}
	}
}

// nextCommand takes the next command that has a waiting caller, a guest's where no other
// waits. It returns nil, and the
// writer has ended, if there is none or the link has ended.
func (m *Mux) nextCommand() *command {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.end == nil && m.queuedLocked() > 0 {
		cmd := m.queue.pop()
		if cmd == nil {
			cmd = m.guests.pop()
		}
		if !cmd.isTracked {
			return cmd
		}
		if p, ok := m.pending[cmd.id]; ok {
			// From here on the command counts as sent.
			p.isSent = true
			return cmd
		}
		m.queuedBytes -= len(cmd.buf)
		cmd.release()
	}
	m.isWriting = false
	return nil
}

var errWriteTimeout = errors.New("a command was not accepted in time")
