package browser

import (
	"slices"
	"sync"
	"time"
)

// residentFor is how long a sum of memory is good for: it takes a look at every
// process of the machine, 20 µs each, and is asked for by every scrape.
const residentFor = 5 * time.Second

// resident is the last sum.
type resident struct {
	mu    sync.Mutex // protects what follows
	at    time.Time
	bytes uint64
}

// Running is how many browsers run that this manager has launched, and their
// resident memory in bytes, that of all processes in their groups. Memory that
// processes share counts once for each of them. The sum may be a few seconds old. On
// macOS it is 0: the system does not tell.
func (m *Manager) Running() (browsers int, rss uint64) {
	m.mu.Lock()
	trees := make([]*tree, 0, len(m.processes))
	for p := range m.processes {
		trees = append(trees, p.tree)
	}
	m.mu.Unlock()
	return len(trees), m.resident.sum(time.Now(), trees)
}

func (r *resident) sum(now time.Time, trees []*tree) uint64 {
	if len(trees) == 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.at) < residentFor {
		return r.bytes
	}
	r.at, r.bytes = now, 0
	var members []func(procStat) bool
	for _, t := range trees {
		members = append(members, t.members())
	}
	_ = scan(func(s procStat) { // what cannot be read counts as nothing
		if slices.ContainsFunc(members, func(isMember func(procStat) bool) bool { return isMember(s) }) {
			r.bytes += s.resident()
		}
	})
	return r.bytes
}
