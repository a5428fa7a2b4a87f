package wanted

import (
	"sync"
	"sync/atomic"

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

// Again is [State.Again].
func (s *Store) Again(p Place) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Again(p)
}

// Leaving is [State.Leaving].
func (s *Store) Leaving(p Place) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Leaving(p)
}

// Behind is [State.Behind].
func (s *Store) Behind(p Place) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Behind(p)
}

// Refused is [State.Refused].
func (s *Store) Refused(p Place) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Refused(p)
}

// Succeeded is [State.Succeeded]; it returns the result for the agent, and whether
// something that had been refused is set now, or not wanted any more.
func (s *Store) Succeeded(p Place, method string, params, result []byte) (forAgent []byte, resolved bool) {
	s.mu.Lock()
	forAgent, remembered, resolved := s.state.succeeded(p, method, params, result)
	s.mu.Unlock()
	if !remembered {
		s.full()
	}
	return forAgent, resolved
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

// IsOvertaken is [State.Overtaken].
func (s *Store) IsOvertaken(p Place, changes uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.IsOvertaken(p, changes)
}

// Site is the site of the document that a frame's session shows. What is set for a
// frame stays with the site it was set for: a frame outlives its documents, and who
// navigates it may be another. Safe for concurrent use.
type Site struct{ name atomic.Pointer[string] }

// Show notes the document's URL.
func (s *Site) Show(documentURL string) {
	name := siteOf(documentURL)
	s.name.Store(&name)
}

// Name is the site, "" where it is not known.
func (s *Site) Name() string {
	if s == nil {
		return ""
	}
	if name := s.name.Load(); name != nil {
		return *name
	}
	return ""
}
