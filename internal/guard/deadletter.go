package guard

import (
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anthdm/hollywood/actor"
)

// lateAfter is how long after an actor's exit a message to it still counts as
// one that crossed it: its peers hear of the exit within milliseconds, and what
// is slower is on a starved machine.
const lateAfter = 10 * time.Second

// exits are the last actors that have ended.
type exits struct {
	mu   sync.Mutex // protects what follows
	ring [1024]struct {
		gen uint64
		at  time.Time
	}
	next int
}

func (e *exits) add(gen uint64, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ring[e.next].gen, e.ring[e.next].at = gen, now
	e.next = (e.next + 1) % len(e.ring)
}

// isLate says that the actor to whom a letter goes has ended long ago, or never
// was. Where too many have ended since to know, it is not.
func (e *exits) isLate(to *actor.PID, now time.Time) bool {
	id := to.GetID()
	gen, err := strconv.ParseUint(id[strings.LastIndexByte(id, '/')+1:], 10, 64)
	if err != nil {
		return true // not an id of a guarded actor
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if now.Sub(e.ring[e.next].at) < lateAfter {
		return false
	}
	for i := range e.ring {
		if x := &e.ring[i]; x.gen == gen {
			return now.Sub(x.at) >= lateAfter
		}
	}
	return true
}
