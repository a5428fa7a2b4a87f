package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
	"sync"
	"time"
)

// trace is what a person reads of a run, and what its hash is made of.
//
// Hashed are the steps with what they were about, and the state of every task
// and page at each settled point, under names that do not depend on who was
// scheduled first. Not hashed is what a race decides and may decide either way:
// which of several callers won, what a call that was under way at a fault got,
// session ids, versions, and times.
type trace struct {
	mu    sync.Mutex
	began time.Time
	step  int
	lines []string
	hash  hash.Hash
	names map[string]string // ids of pages and frames
	count map[string]int
}

func newTrace() *trace {
	return &trace{began: time.Now(), hash: sha256.New(), names: map[string]string{}, count: map[string]int{}}
}

// say writes a line that the hash does not cover.
func (t *trace) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write(fmt.Sprintf(format, args...))
}

// fix writes a line that every run of the seed has.
func (t *trace) fix(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := fmt.Sprintf(format, args...)
	fmt.Fprintln(t.hash, line)
	t.write("# " + line)
}

func (t *trace) write(line string) {
	t.lines = append(t.lines, fmt.Sprintf("%3d %10.3fs  %s", t.step, time.Since(t.began).Seconds(), line))
}

// name gives what the browser calls id a short name of its own, the same in
// every run as long as it is met in the same order.
func (t *trace) name(kind, id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id == "" {
		return "-"
	}
	n, ok := t.names[id]
	if !ok {
		t.count[kind]++
		n = fmt.Sprint(kind, t.count[kind])
		t.names[id] = n
	}
	return n
}

// number is the order in which id was met; what has no name yet comes last.
func (t *trace) number(id string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	var n int
	if _, err := fmt.Sscanf(strings.TrimLeft(t.names[id], "pf"), "%d", &n); err != nil {
		return 1 << 30
	}
	return n
}

func (t *trace) sum() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return hex.EncodeToString(t.hash.Sum(nil))[:16]
}

// hashed are the lines that the hash is made of.
func (t *trace) hashed() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for _, l := range t.lines {
		if _, line, ok := strings.Cut(l, "  # "); ok {
			lines = append(lines, line)
		}
	}
	return lines
}

func (t *trace) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
