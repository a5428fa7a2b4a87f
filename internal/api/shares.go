package api

import (
	"sync"

	"holdfast/internal/token"
)

// The shares of one token in what all callers have together. A task's page needs one
// stream, and its agent another; some are kept for the admin.
const (
	taskStreams    = 8
	tenantStreams  = 128
	adminStreams   = 64 // kept for the admin token; fewer where there are few
	maxBodyBytes   = 256 << 20
	tenantBodies   = 128 << 20
	taskBodies     = 64 << 20
	bodyUncounted  = 1 << 20 // bodies up to this size are bounded by the connections
	adminBodyBytes = 64 << 20
)

// shares bounds what callers hold at the same time: all together, and each scope. It is
// safe for concurrent use.
type shares struct {
	all, kept    int64 // kept is out of all, for the admin
	task, tenant int64

	mu   sync.Mutex
	held int64
	by   map[string]int64 // by scope; none is zero
}

// take takes n for the scope, or says that there is no room.
func (s *shares) take(scope token.Scope, n int64) (release func(), ok bool) {
	all, share, name := s.all, s.all, scope.String()
	if !scope.Admin() {
		all -= s.kept
		share = s.task
		if _, isTenant := scope.IDPrefix(); isTenant {
			share = s.tenant
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
