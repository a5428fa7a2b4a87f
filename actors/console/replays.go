package console

import (
	"hash/maphash"
	"slices"

	"holdfast/messages"
)

const (
	// maxReported is how many errors of one target are known one by one. What
	// is older counts as a replay by its time alone.
	maxReported = 256
	// maxReporters is how many targets are remembered, those included whose
	// session is gone: a frame may come back out of the back-forward cache.
	maxReporters = 256
)

// Replays know what has been reported. The zero value knows nothing.
type Replays struct {
	targets []*reporter // the one that was heard of last is the last
}

// reporter is a target that has written to its console.
type reporter struct {
	page, target messages.TargetID
	known        map[report]bool
	order        []report         // as they came, round and round once it is full
	oldest       int              // of order, where that is full
	floor        messages.Seconds // nothing up to here is new
}

// report tells one error from another. The time is the browser's, in
// microseconds, and a replay repeats it to the digit.
type report struct {
	at   messages.Seconds
	said uint64 // its level and its text
}

// textSeed is a process's own, and decides nothing: hashes are only compared.
var textSeed = maphash.MakeSeed()

func reportOf(e *messages.ConsoleError) report {
	return report{e.TS, maphash.String(textSeed, e.Text) + 31*maphash.String(textSeed, string(e.Level))}
}

// IsKnown says whether e has been reported before, and remembers it.
func (s *Replays) IsKnown(page, target messages.TargetID, e *messages.ConsoleError) bool {
	t := s.reporter(page, target)
	key := reportOf(e)
	if e.TS <= t.floor || t.known[key] {
		return true
	}
	t.known[key] = true
	if len(t.order) < maxReported {
		t.order = append(t.order, key)
		return false
	}
	oldest := t.order[t.oldest]
	delete(t.known, oldest)
	t.floor = max(t.floor, oldest.at)
	t.order[t.oldest] = key
	t.oldest = (t.oldest + 1) % maxReported
	return false
}

func (s *Replays) reporter(page, target messages.TargetID) *reporter {
	if n := len(s.targets); n > 0 && s.targets[n-1].target == target {
		return s.targets[n-1]
	}
	i := slices.IndexFunc(s.targets, func(t *reporter) bool { return t.target == target })
	t := &reporter{page: page, target: target, known: map[report]bool{}}
	switch {
	case i >= 0:
		t = s.targets[i]
		s.targets = slices.Delete(s.targets, i, i+1)
	case len(s.targets) >= maxReporters:
		s.targets = slices.Delete(s.targets, 0, 1)
	}
	s.targets = append(s.targets, t)
	return t
}

// Forget drops what the targets of a page have reported: it is closed.
func (s *Replays) Forget(page messages.TargetID) {
	s.targets = slices.DeleteFunc(s.targets, func(t *reporter) bool { return t.page == page })
}
