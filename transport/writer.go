package transport

import (
	"context"
	"errors"
	"time"

	"github.com/coder/websocket"
)

// writeTimeout is how long the peer may take to accept a command of size
// bytes before the link counts as stalled. Chrome took 2.4 s for 64 MB (M15).
func writeTimeout(size int) time.Duration {
	return 10*time.Second + time.Duration(size>>20)*time.Second
}

// readerGrace is how long a failed write waits for the reader to say why.
const readerGrace = 200 * time.Millisecond

func (m *Mux) queuedLocked() int { return len(m.queue) - m.queueHead }

// enqueueLocked hands a command to the writer, and starts one if there is none.
func (m *Mux) enqueueLocked(cmd *command) {
	m.queue = append(m.queue, cmd)
	m.queuedBytes += len(cmd.buf)
	if !m.writing {
		m.writing = true
		m.running.Add(1)
		go m.write()
	}
}

// write is the writer's goroutine. It ends when there is nothing left to
// write: starting one costs less than keeping a stack for every idle link.
func (m *Mux) write() {
	defer m.running.Done()
	for cmd := m.nextCommand(); cmd != nil; cmd = m.nextCommand() {
		m.writeTimer.Reset(writeTimeout(len(cmd.buf)))
		// No deadline by context: see reader.next.
		err := m.conn.Write(context.Background(), websocket.MessageText, cmd.buf)
		m.writeTimer.Stop()
		if err != nil {
			// The reader has the better reason, a close frame perhaps that is
			// still in the socket's buffer: it may speak first. No writer
			// follows this one, since writing stays set.
			time.AfterFunc(readerGrace, func() { m.fail(classify(err)) })
			return
		}
		m.stats.MessagesOut.Add(1)
		m.stats.BytesOut.Add(uint64(len(cmd.buf)))
		m.mu.Lock()
		m.queuedBytes -= len(cmd.buf)
		m.mu.Unlock()
		cmd.release()
	}
}

// nextCommand takes the next command that somebody still waits for. It returns
// nil, and there is no writer any more, if there is none or the link has ended.
func (m *Mux) nextCommand() *command {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.end == nil && m.queueHead < len(m.queue) {
		cmd := m.queue[m.queueHead]
		m.queue[m.queueHead] = nil
		m.queueHead++
		if !cmd.tracked {
			return cmd
		}
		if p, ok := m.pending[cmd.id]; ok {
			// From here on nobody can say that it was not sent.
			p.sent = true
			m.pending[cmd.id] = p
			return cmd
		}
		m.queuedBytes -= len(cmd.buf)
		cmd.release()
	}
	if cap(m.queue) > 64 {
		m.queue = nil
	}
	m.queue, m.queueHead, m.writing = m.queue[:0], 0, false
	return nil
}

func (m *Mux) writeTimedOut() {
	m.fail(&LinkError{Cause: CauseOverload, Err: errors.New("a command was not accepted in time")})
}
