package live_test

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// trace is what a person reads of a run that failed.
type trace struct {
	began time.Time

	mu    sync.Mutex
	lines []string
}

// maxTrace bounds a trace; what is oldest goes first.
const maxTrace = 400

func (t *trace) add(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) >= maxTrace {
		t.lines = append(t.lines[:0:0], t.lines[maxTrace/4:]...)
	}
	t.lines = append(t.lines, fmt.Sprintf("%9.3fs  %s", time.Since(t.began).Seconds(), fmt.Sprintf(format, args...)))
}

func (t *trace) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
