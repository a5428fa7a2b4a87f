package guard

import (
	"sync"

	"github.com/anthdm/hollywood/actor"
)

// actorTable has the actors that live, by the very address that Spawn returned. A
// sync.Map would do, and took five times the memory. Safe for concurrent use.
type actorTable struct {
	shards [64]struct {
		mu    sync.RWMutex // protects what follows
		procs map[*actor.PID]*proc
		_     [32]byte // that neighbours share no cache line
	}
}

// shard is the shard of an address. The ids of guarded actors end in a number that grows.
func (l *actorTable) shard(pid *actor.PID) int {
	id := pid.GetID()
	if len(id) < 2 {
		return 0
	}
	return (int(id[len(id)-1]) + 10*int(id[len(id)-2])) % len(l.shards)
}

func (l *actorTable) load(pid *actor.PID) *proc {
	s := &l.shards[l.shard(pid)]
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.procs[pid]
}

func (l *actorTable) store(p *proc) {
	s := &l.shards[l.shard(p.pid)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.procs == nil {
		s.procs = map[*actor.PID]*proc{}
	}
	s.procs[p.pid] = p
}

func (l *actorTable) delete(p *proc) {
	s := &l.shards[l.shard(p.pid)]
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.procs, p.pid)
}
