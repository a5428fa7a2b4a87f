package gate

import (
	"crypto/rand"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"holdfast/internal/token"
	"holdfast/messages"
)

// onceStore keeps credentials that are good once and for a short time, so that the address
// that carries one is worth nothing in a history or a log. Each scope has its own share, and
// its oldest credential makes room for a new one.
type onceStore struct {
	life       time.Duration
	most, each int // together, and of each scope

	mu   sync.Mutex
	open []once // by age
}

// once is kept by its hash: nothing in memory opens anything.
type once struct {
	hash  [sha256.Size]byte
	scope token.Scope
	task  messages.TaskID // "" for all of the scope
	end   time.Time
}

// add returns a new credential and when it ends.
func (s *onceStore) add(scope token.Scope, task messages.TaskID, now time.Time) (text string, end time.Time) {
	text = rand.Text() // 128 bits
	end = now.Add(s.life)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked(now)
	oldest, held := -1, 0
	for i := range s.open {
		if s.open[i].scope.String() == scope.String() {
			if held++; oldest < 0 {
				oldest = i
			}
		}
	}
	switch {
	case held >= s.each:
		s.open = slices.Delete(s.open, oldest, oldest+1)
	case len(s.open) >= s.most:
		s.open = slices.Delete(s.open, 0, 1)
	}
	s.open = append(s.open, once{sha256.Sum256([]byte(text)), scope, task, end})
	return text, end
}

// take uses a credential up.
func (s *onceStore) take(text string, now time.Time) (once, bool) {
	hash := sha256.Sum256([]byte(text))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dropLocked(now)
	i := slices.IndexFunc(s.open, func(o once) bool { return o.hash == hash })
	if i < 0 {
		return once{}, false
	}
	found := s.open[i]
	s.open = slices.Delete(s.open, i, i+1)
	return found, true
}

func (s *onceStore) dropLocked(now time.Time) {
	n := 0
	for n < len(s.open) && !now.Before(s.open[n].end) {
		n++
	}
	s.open = slices.Delete(s.open, 0, n)
}
