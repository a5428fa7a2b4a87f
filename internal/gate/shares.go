package gate

import (
	"sync"

	"holdfast/internal/token"
)

// Bounds are what callers may hold at the same time: all together, and each token's share of
// it. A scope without a share of its own, the admin's, is bounded by All alone.
type Bounds struct {
	All    int64
	Admin  int64 // kept out of All for the admin token
	Tenant int64 // the share of a tenant's token
	Task   int64 // the share of a task's token
}

// Shares counts what callers hold against its bounds. It is safe for concurrent use.
type Shares struct {
	bounds Bounds

	mu   sync.Mutex
	held int64
	by   map[string]int64 // by scope; none is zero
}

// NewShares returns shares of which none is taken.
func NewShares(b Bounds) *Shares { return &Shares{bounds: b} }

// Bounds returns the bounds of the shares.
func (s *Shares) Bounds() Bounds { return s.bounds }

// Take takes n for the scope; ok is false where there is no room. Call release once.
func (s *Shares) Take(scope token.Scope, n int64) (release func(), ok bool) {
	all, share, name := s.bounds.All, s.bounds.All, scope.String()
	if !scope.IsAdmin() {
		all -= s.bounds.Admin
		share = s.bounds.Task
		if _, isTenant := scope.IDPrefix(); isTenant {
			share = s.bounds.Tenant
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held+n > all || s.by[name]+n > share {
		return nil, false
	}
	if s.by == nil {
		s.by = map[string]int64{}
	}
	s.held += n
	s.by[name] += n
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held -= n
		if s.by[name] -= n; s.by[name] == 0 {
			delete(s.by, name)
		}
	}, true
}
