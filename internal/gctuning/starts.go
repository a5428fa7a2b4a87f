package gctuning

import (
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// percent is GOGC while many start.
	percent = 16
	// crowd is how many starts within a lull are many.
	crowd = 16
	lull  = 2 * time.Second
)

// Starts are the starts of one node's tasks. The zero value is ready. Its methods are safe
// for concurrent use and never wait.
type Starts struct {
	mu      sync.Mutex // protects what follows
	begun   int        // since the last look
	timer   *time.Timer
	isClose bool // the heap is kept close
}

// Begin notes that a task starts.
func (s *Starts) Begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	if s.timer == nil {
		s.timer = time.AfterFunc(lull, s.look)
	}
	if s.begun == crowd && !s.isClose {
		s.isClose = process.canHold()
	}
}

// look runs on the timer's goroutine.
func (s *Starts) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer == nil {
		return // ended meanwhile
	}
	many := s.begun >= crowd
	if s.begun = 0; many {
		s.timer.Reset(lull)
		return
	}
	s.restLocked()
}

// End is for a node that ends.
func (s *Starts) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restLocked()
}

func (s *Starts) restLocked() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if s.isClose {
		s.isClose = false
		process.release()
	}
}

// process is what the nodes of a process want of its one heap.
var process holders

type holders struct {
	mu sync.Mutex // protects what follows
	n  int
}

// canHold keeps the heap close until release, and says whether that may be.
func (h *holders) canHold() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n == 0 {
		if !isUntouched() {
			return false
		}
		debug.SetGCPercent(percent)
	}
	h.n++
	return true
}

func (h *holders) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.n--; h.n > 0 {
		return
	}
	if gogc, _ := settings(); gogc == percent { // else other code has set it meanwhile
		debug.SetGCPercent(100)
	}
}

// isUntouched says that neither the environment nor code has set how garbage is collected.
func isUntouched() bool {
	gogc, limit := settings()
	return os.Getenv("GOGC") == "" && gogc == 100 && limit == math.MaxInt64
}

func settings() (gogc, limit uint64) {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64(), s[1].Value.Uint64()
}
