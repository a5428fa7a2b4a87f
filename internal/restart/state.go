package restart

// ChildState is what a supervisor knows of one child.
type ChildState struct {
	Child
	Phase    Phase
	Gen      uint64 // of the last start, 0 before the first
	Failures int    // in a row, without the loss of a generation that had been Ready
}

// State returns the children in start order.
func (s *Supervisor) State() []ChildState {
	out := make([]ChildState, 0, len(s.children))
	for _, c := range s.children {
		out = append(out, ChildState{Child: c.spec, Phase: c.phase, Gen: c.gen, Failures: c.row.failures})
	}
	return out
}

// Running returns the live generation of a child that was started and has
// neither exited nor been told to stop.
func (s *Supervisor) Running(id string) (gen uint64, ok bool) {
	c := s.child(id)
	if c == nil || c.phase != Running {
		return 0, false
	}
	return c.gen, true
}

// Failures returns how often a child has failed in a row, for reports.
func (s *Supervisor) Failures(id string) int {
	if c := s.child(id); c != nil {
		return c.row.failures
	}
	return 0
}

// HasEnded tells that nothing will be started any more: the supervisor has given
// up or is shutting down.
func (s *Supervisor) HasEnded() bool { return s.isEnding }
