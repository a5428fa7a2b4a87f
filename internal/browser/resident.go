package browser

import (
	"os"
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
// processes share counts once for each of them. The sum may be a few seconds old.
func (m *Manager) Running() (browsers int, rss uint64) {
	m.mu.Lock()
	groups := make(map[int]bool, len(m.processes))
	for p := range m.processes {
		groups[p.PID()] = true
	}
	m.mu.Unlock()
	return len(groups), m.resident.sum(time.Now(), groups)
}

func (r *resident) sum(now time.Time, groups map[int]bool) uint64 {
	if len(groups) == 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.at) < residentFor {
		return r.bytes
	}
	r.at, r.bytes = now, 0
	_ = scan(func(s procStat) { // what cannot be read counts as nothing
		if groups[s.Group] {
			r.bytes += s.Pages * uint64(os.Getpagesize())
		}
	})
	return r.bytes
}
