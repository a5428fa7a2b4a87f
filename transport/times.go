package transport

import (
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// The buckets in which durations are counted: eight for each power of two, as
// in a native histogram of schema 3 (its bucket i ends at 2^(i/8) seconds, and
// two neighbours differ by a factor of 1.09), and cut once more at the bounds
// of the classic histogram, so that one count serves both.
const (
	// DurationSchema is the schema of the native buckets.
	DurationSchema = 3
	minBucket      = -14 * 8 // ends at 61 µs; what is shorter counts as zero
	maxBucket      = 9 * 8   // ends at 512 s; what is longer is there, too
	perDouble      = 8
)

// CommandBounds are the bounds of the classic histogram, in seconds.
var CommandBounds = []float64{.01, .1, 1}

// cells is how many buckets there are after the cuts.
const cells = maxBucket - minBucket + 1 + 3

type cell struct {
	end    time.Duration // the longest duration in it
	native int           // its bucket
}

var layout = func() (l [cells]cell) {
	all := make([]cell, 0, cells)
	for i := minBucket; i <= maxBucket; i++ {
		all = append(all, cell{time.Duration(math.Exp2(float64(i)/perDouble) * 1e9), i})
	}
	for _, bound := range CommandBounds {
		end := time.Duration(bound * 1e9)
		at, _ := slices.BinarySearchFunc(all, end, func(c cell, end time.Duration) int { return int(c.end - end) })
		all = slices.Insert(all, at, cell{end, all[at].native})
	}
	copy(l[:], all)
	return l
}()

// times counts durations.
type times struct {
	cells [cells]atomic.Uint64
	sum   atomic.Int64 // nanoseconds
}

func (t *times) add(d time.Duration) {
	low, high := 0, cells-1
	for low < high {
		mid := int(uint(low+high) >> 1)
		if layout[mid].end < d {
			low = mid + 1
		} else {
			high = mid
		}
	}
	t.cells[low].Add(1)
	t.sum.Add(int64(d))
}

// CommandTimes counts how long commands took, by domain and by whether they
// succeeded. It takes about 15 kB; a node has one.
type CommandTimes struct{ of [len(domains)][2]times }

// Add counts one command.
func (c *CommandTimes) Add(method string, d time.Duration, err error) {
	failed := 0
	if err != nil {
		failed = 1
	}
	c.of[domainOf(method)][failed].add(d)
}

func (c *CommandTimes) count() (n uint64) {
	for d := range c.of {
		for f := range c.of[d] {
			for i := range c.of[d][f].cells {
				n += c.of[d][f].cells[i].Load()
			}
		}
	}
	return n
}

// Durations are those of one kind of command.
type Durations struct {
	Domain    string
	HasFailed bool
	Count     uint64
	Sum       time.Duration
	Within    []uint64       // as long as each of CommandBounds, at most
	Zero      uint64         // shorter than ZeroBelow
	Native    map[int]uint64 // the other buckets that are not empty
}

// ZeroBelow is the duration up to which a command took no time.
var ZeroBelow = layout[0].end

// Each calls f for every kind of command, always in the same order.
func (c *CommandTimes) Each(f func(Durations)) {
	for d := range c.of {
		for failed := range c.of[d] {
			f(c.of[d][failed].read(domains[d], failed == 1))
		}
	}
}

func (t *times) read(domain string, failed bool) Durations {
	d := Durations{Domain: domain, HasFailed: failed, Native: map[int]uint64{}, Within: make([]uint64, len(CommandBounds))}
	d.Sum = time.Duration(t.sum.Load())
	for i := range t.cells {
		n := t.cells[i].Load()
		if n == 0 {
			continue
		}
		d.Count += n
		if i == 0 {
			d.Zero = n
		} else {
			d.Native[layout[i].native] += n
		}
		for b, bound := range CommandBounds {
			if layout[i].end <= time.Duration(bound*1e9) {
				d.Within[b] += n
			}
		}
	}
	return d
}
