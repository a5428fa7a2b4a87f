package page

import "time"

// A page that asks again and again, each time answered at once by the task's policy,
// goes to no other page of its site: the next dialog opens while that commits, and
// holds it up for good (C58). To a page of another process it does go, and about:blank
// is one. From there the way is free.

// stormCount dialogs within stormSpan are a storm.
const (
	stormCount = 5
	stormSpan  = time.Second
)

// storm knows when the newest native dialogs of a page opened, the newest last.
type storm [stormCount]time.Time

func (s *storm) note(now time.Time) {
	copy(s[:], s[1:])
	s[stormCount-1] = now
}

func (s *storm) isRaging(now time.Time) bool { return !s[0].IsZero() && now.Sub(s[0]) <= stormSpan }
