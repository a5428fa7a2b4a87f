package wanted

import (
	"sync"

	"holdfast/messages"
)

// Store is the [State] of a task, shared by its supervisor, its sessions and
// their callers. Its methods are those of the State, safe for concurrent use,
// and never wait for anything but each other.
type Store struct {
	full func() // see New

	mu    sync.Mutex // protects state
	state State
}

// New returns an empty store. Full is called, on any goroutine and without a
// lock, when something could not be remembered for want of room; it must not
// block.
func New(full func()) *Store { return &Store{full: full} }

// Begin is [State.Begin].
func (s *Store) Begin(p Place) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Begin(p)
}

// Revive is [State.Revive].
func (s *Store) Revive(p Place) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Revive(p)
}

// Established is [State.Established].
func (s *Store) Established(p Place, id uint64, result []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Established(p, id, result, err)
}

// Prepare is [State.Prepare].
func (s *Store) Prepare(p Place, method string, params []byte) (send, answer []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Prepare(p, method, params)
}

// Succeeded is [State.Succeeded]; it returns the result for the agent.
func (s *Store) Succeeded(p Place, method string, params, result []byte) []byte {
	s.mu.Lock()
	result, remembered := s.state.Succeeded(p, method, params, result)
	s.mu.Unlock()
	if !remembered {
		s.full()
	}
	return result
}

// End is [State.End].
func (s *Store) End(p Place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.End(p)
}

// Forget is [State.Forget].
func (s *Store) Forget(page messages.TargetID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Forget(page)
}

// HasCommon is [State.HasCommon].
func (s *Store) HasCommon(page messages.TargetID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.HasCommon(page)
}

// Renew is [State.Renew].
func (s *Store) Renew(p Place) (commands []Command, changes uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Renew(p)
}

// Overtaken is [State.Overtaken].
func (s *Store) Overtaken(p Place, changes uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Overtaken(p, changes)
}
