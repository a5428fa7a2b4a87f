package supervisor

import (
	"hash/maphash"
	"slices"

	"holdfast/messages"
)

// consoleReported puts an error into the ring, once.
//
// A browser keeps what a target wrote to its console, a thousand entries per
// document, and says all of it again to every session that enables Runtime:
// after a reconnect, a release, a reattach. The same happens on a session that
// never ended when a document comes back out of the back-forward cache, before
// anything tells that it did.
func (m *Machine) consoleReported(r messages.ConsoleReported) {
	if m.pages[r.Page] != nil && m.reports.again(r) {
		return
	}
	// What has been published ends before the place that is written: the list is
	// copied only when there is no room behind it, not for every error.
	m.console = append(m.console, r.Entry)
	if over := len(m.console) - messages.MaxConsoleErrors; over > 0 {
		m.console = m.console[over:]
	}
	m.held = append(m.held, messages.Event{Type: messages.EventConsoleError, Console: &m.console[len(m.console)-1]})
	if !m.flushing {
		m.flushing = true
		m.do(FlushSoon{})
	}
}

const (
	// maxReported is how many errors of one target are known one by one. What
	// is older counts as a replay by its time alone.
	maxReported = 256
	// maxReporters is how many targets are remembered, those included whose
	// session is gone: a frame may come back out of the back-forward cache.
	maxReporters = 256
)

// reports know what has been reported. The zero value knows nothing.
type reports struct {
	targets []*reporter // the one that was heard of last is the last
}

// reporter is a target that has written to its console.
type reporter struct {
	page, target messages.TargetID
	known        map[report]bool
	order        []report         // as they came
	floor        messages.Seconds // nothing up to here is new
}

// report tells one error from another. The time is the browser's, in
// microseconds, and a replay repeats it to the digit.
type report struct {
	at    messages.Seconds
	text  uint64
	level string
}

// textSeed is a process's own, and decides nothing: hashes are only compared.
var textSeed = maphash.MakeSeed()

// again says whether r has been reported before, and remembers it.
func (s *reports) again(r messages.ConsoleReported) bool {
	t := s.reporter(r)
	key := report{r.Entry.TS, maphash.String(textSeed, r.Entry.Text), r.Entry.Level}
	if r.Entry.TS <= t.floor || t.known[key] {
		return true
	}
	if len(t.order) >= maxReported {
		oldest := t.order[0]
		t.order = append(t.order[:0], t.order[1:]...)
		delete(t.known, oldest)
		t.floor = max(t.floor, oldest.at)
	}
	t.known[key] = true
	t.order = append(t.order, key)
	return false
}

func (s *reports) reporter(r messages.ConsoleReported) *reporter {
	i := slices.IndexFunc(s.targets, func(t *reporter) bool { return t.target == r.Target })
	t := &reporter{page: r.Page, target: r.Target, known: map[report]bool{}}
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

// forget drops what the targets of a page have reported: it is closed.
func (s *reports) forget(page messages.TargetID) {
	s.targets = slices.DeleteFunc(s.targets, func(t *reporter) bool { return t.page == page })
}
