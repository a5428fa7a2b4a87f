package transport

import (
	"errors"
	"time"

	"holdfast/internal/ws"
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
	m.queuedBytes += len(cmd.frame)
	if !m.writing {
		m.startWriterLocked(nil)
	}
}

func (m *Mux) startWriterLocked(first *command) {
	m.writing = true
	m.running.Add(1)
	go m.write(first)
}

// writeDirectly writes a command on the goroutine of whoever gave it, who has
// set writing: it saves the way by way of another, and that is most of what a
// call costs. It never waits: what the socket does not take at once is the
// writer's, and so is what was queued meanwhile.
func (m *Mux) writeDirectly(cmd *command) {
	n, err := m.conn.TryWrite(cmd.frame)
	if err != nil {
		m.writeFailed(err)
		return
	}
	if n == len(cmd.frame) {
		m.wrote(cmd)
		cmd = nil
	} else if n > 0 {
		cmd.frame, cmd.begun = cmd.frame[n:], true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.end != nil: // writing stays set, as where a write fails
	case cmd != nil:
		m.queuedBytes += len(cmd.frame)
		m.startWriterLocked(cmd)
	case m.queuedLocked() > 0:
		m.startWriterLocked(nil)
	default:
		m.writing = false
	}
}

func (m *Mux) wrote(cmd *command) {
	if !cmd.control {
		m.stats.MessagesOut.Add(1)
		m.stats.BytesOut.Add(uint64(len(cmd.buf) - ws.Headroom))
	}
	cmd.release()
}

func (m *Mux) writeFailed(err error) {
	// The reader has the better reason, a close frame perhaps that is still in
	// the socket's buffer: it may speak first. No writer follows this one, since
	// writing stays set.
	time.AfterFunc(readerGrace, func() { m.fail(classify(err)) })
}

// What is written at once of several commands, for a socket: there they could not
// be taken back one by one, anyway. Of another connection each is a write.
const (
	maxBatch  = 32
	batchSize = midBuffer // bytes
)

// write is the writer's goroutine. It ends when there is nothing left to
// write: starting one costs less than keeping a stack for every idle link.
func (m *Mux) write(first *command) {
	defer m.running.Done()
	var some [maxBatch]*command
	for batch := m.nextBatch(some[:0], first); len(batch) > 0; batch = m.nextBatch(some[:0], nil) {
		if !m.writeBatch(batch) {
			return
		}
	}
}

// writeBatch writes commands in one go: an attach has dozens, and each would be a
// system call.
func (m *Mux) writeBatch(batch []*command) bool {
	out := batch[0].frame
	if len(batch) > 1 {
		buf := getBuffer(batchSize)
		defer putBuffer(buf)
		out = buf.b[:0]
		for _, cmd := range batch {
			out = append(out, cmd.frame...)
		}
	}
	m.writeTimer.Reset(writeTimeout(len(out)))
	err := m.conn.Write(out)
	m.writeTimer.Stop()
	if err != nil {
		m.writeFailed(err)
		return false
	}
	m.mu.Lock()
	m.queuedBytes -= len(out)
	m.mu.Unlock()
	for _, cmd := range batch {
		m.wrote(cmd)
	}
	return true
}

// nextBatch takes the next commands that somebody still waits for, after first
// if there is one. It returns none, and there is no writer any more, if there
// are none or the link has ended.
func (m *Mux) nextBatch(batch []*command, first *command) []*command {
	size, most := 0, 1
	if m.conn.Direct() {
		most = maxBatch
	}
	if first != nil {
		batch, size = append(batch, first), len(first.frame)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.end == nil && m.queueHead < len(m.queue) && len(batch) < most {
		cmd := m.queue[m.queueHead]
		if len(batch) > 0 && size+len(cmd.frame) > batchSize {
			break
		}
		m.queue[m.queueHead] = nil
		m.queueHead++
		if cmd == m.unsentPong {
			m.unsentPong = nil
		}
		if cmd.tracked {
			p, ok := m.pending[cmd.id]
			if !ok {
				m.queuedBytes -= len(cmd.frame)
				cmd.release()
				continue
			}
			// From here on nobody can say that it was not sent.
			p.sent = true
		}
		batch = append(batch, cmd)
		size += len(cmd.frame)
	}
	if len(batch) == 0 || m.end != nil {
		m.forgetQueueLocked()
		return nil
	}
	return batch
}

func (m *Mux) forgetQueueLocked() {
	if cap(m.queue) > 64 {
		m.queue = nil
	}
	m.queue, m.queueHead, m.writing = m.queue[:0], 0, false
}

func (m *Mux) writeTimedOut() {
	m.fail(&LinkError{Cause: CauseOverload, Err: errors.New("a command was not accepted in time")})
}

// controlLocked queues a frame of the link's own. It never waits.
func (m *Mux) controlLocked(op ws.Opcode, payload []byte) *command {
	cmd := commands.Get().(*command)
	cmd.encodeControl(op, payload)
	m.enqueueLocked(cmd)
	return cmd
}

// pong answers a ping. Of several that nobody had time to answer the last one
// counts.
func (m *Mux) pong(payload []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.end != nil:
	case m.unsentPong != nil:
		m.queuedBytes -= len(m.unsentPong.frame)
		m.unsentPong.encodeControl(ws.Pong, payload)
		m.queuedBytes += len(m.unsentPong.frame)
	default:
		m.unsentPong = m.controlLocked(ws.Pong, payload)
	}
}

// goodbyeTimeout is how long a peer that has said goodbye may take to accept
// ours.
const goodbyeTimeout = 100 * time.Millisecond

// sayGoodbye answers a close frame, unless somebody is writing: what would stand
// behind half a command is no close frame.
func (m *Mux) sayGoodbye() {
	m.mu.Lock()
	busy := m.writing
	m.writing = true
	m.mu.Unlock()
	if busy {
		return
	}
	cmd := commands.Get().(*command)
	defer cmd.release()
	cmd.encodeControl(ws.Close, nil)
	late := time.AfterFunc(goodbyeTimeout, func() { _ = m.conn.Close() })
	defer late.Stop()
	_ = m.conn.Write(cmd.frame)
}
