package transport

import "holdfast/transport/quirks"

// A link may be told to keep back what decides something: see [DialOptions.MayDecide]. The
// question is asked last, since a process may be stopped between any two instructions. What
// is left is the moment between the answer and the write.

// needsPermission says whether the call asks for the link's permission. The commands of callers do
// unless they only observe, those of the node itself where they are known to decide.
func (c *Call) needsPermission() bool {
	if c.IsUser || c.IsGuest {
		return !quirks.IsObservation(c.Method)
	}
	return quirks.IsDecision(c.Method)
}

// withheldError is the outcome of a write whose permission has ended while it waited for its
// turn.
type withheldError struct{ Err error }

func (e *withheldError) Error() string { return e.Err.Error() }

// isWithheld gives a command its outcome that may not be written, and says whether it did. A
// write that may have to wait for its turn asks once more when it has it.
func (m *Mux) isWithheld(cmd *command) bool {
	if err := m.opts.MayDecide(); err != nil {
		m.withhold(cmd, err)
		return true
	}
	if m.conn.last != nil {
		m.conn.last(m.opts.MayDecide)
	}
	return false
}

// withhold gives a command that is not written its outcome.
func (m *Mux) withhold(cmd *command, err error) {
	id, isTracked := cmd.id, cmd.isTracked
	cmd.release()
	m.stats.CallsRefused.Add(1)
	if !isTracked {
		return
	}
	m.mu.Lock()
	if p, ok := m.pending[id]; ok {
		p.isSent = false
	}
	m.mu.Unlock()
	m.complete(id, Reply{Err: err})
}

// permitted asks for the permission of a message that has its turn. Nil needs none.
func permitted(last func() error) error {
	if last == nil {
		return nil
	}
	if err := last(); err != nil {
		return &withheldError{err}
	}
	return nil
}
