package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// settle is how long a process is left alone before its memory is read.
const settle = time.Second

// holding is what a process needs for each connection or task it holds.
type holding struct {
	rss, heap, stacks, goroutines, fds float64 // per task; bytes where it is memory
	resident, files                    int     // of the process
	started                            time.Duration
}

// hold has a fresh process open so many places and reads what that took. The
// garbage is collected and given back before, in all of them alike.
func (b *bench) hold(client string, o worker.Options, places []stage.Place) (h holding, done *hand, err error) {
	o.Tasks = len(places)
	done, err = b.hire(client, o)
	if err != nil {
		return h, nil, err
	}
	read := func() (worker.Usage, int, error) {
		time.Sleep(settle)
		a, err := done.tell(worker.Order{Do: "usage"})
		if err != nil {
			return worker.Usage{}, 0, err
		}
		resident, err := rss(done.PID())
		return a.Usage, resident, err
	}
	before, empty, err := read()
	if err != nil {
		done.End()
		return h, nil, err
	}
	begun := time.Now()
	if _, err = done.tell(worker.Order{Do: "open", Places: places, AtOnce: 32}); err != nil {
		done.End()
		return h, nil, err
	}
	h.started = time.Since(begun)
	after, full, err := read()
	if err != nil {
		done.End()
		return h, nil, err
	}
	n := float64(len(places))
	h.resident, h.files = full, files(done.PID())
	h.rss = float64(full-empty) / n
	h.heap = float64(int64(after.Heap)-int64(before.Heap)) / n
	h.stacks = float64(int64(after.Stacks)-int64(before.Stacks)) / n
	h.goroutines = float64(after.Goroutines-before.Goroutines) / n
	h.fds = float64(h.files) / n
	return h, done, nil
}

// rss is the memory of a process that is resident, in bytes.
func rss(pid int) (int, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	var size, resident int
	if _, err := fmt.Sscan(string(b), &size, &resident); err != nil {
		return 0, err
	}
	return resident * os.Getpagesize(), nil
}

// files is how many descriptors a process has open.
func files(pid int) int {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0
	}
	return len(list)
}

const kib = 1 << 10

// The rows of a node whose tasks have both links, or one.
const (
	bothLinks = "holdfast, both links"
	oneLink   = "holdfast, one link"
)

// What an idle task costs, one with a page and two iframes of other processes. A
// measurement each, so that each is a minute's.
func (b *bench) memoryBoth() ([]figure.Table, error) { return b.idle(1000, 7, both) }

func (b *bench) memoryOne() ([]figure.Table, error) { return b.idle(1000, 7, one) }

func (b *bench) memoryPeers() ([]figure.Table, error) {
	players := []player{{name: worker.Floor, client: worker.Floor, note: "a connection, read on demand"}}
	for _, p := range append(slices.Clone(goPeers), puppeteer) {
		players = append(players, player{name: p, client: p})
	}
	return b.idle(1000, 1, players...)
}

// The same of a node as full as it is by default.
func (b *bench) memoryBoth5000() ([]figure.Table, error) { return b.idle(5000, 2, both) }

func (b *bench) memoryOne5000() ([]figure.Table, error) { return b.idle(5000, 2, one) }

var (
	both = player{name: bothLinks, client: worker.Holdfast, opts: worker.Options{Links: 2}, goal: figure.ValueAtMost(40)}
	one  = player{name: oneLink, client: worker.Holdfast, opts: worker.Options{Links: 1}, goal: figure.ValueAtMost(24)}
)

// idle has each client hold so many, in so many fresh processes.
func (b *bench) idle(tasks, times int, players ...player) ([]figure.Table, error) {
	fakes, err := b.fakes()
	if err != nil {
		return nil, err
	}
	places, err := fakes.Make(stage.Making{Browsers: tasks, Frames: 2})
	if err != nil {
		return nil, err
	}
	kibs, running := map[string]figure.Samples{}, map[string]figure.Samples{}
	var absent []figure.Row
	for _, p := range players {
		for range times {
			h, done, err := b.hold(p.client, p.opts, p.doors(places))
			if err != nil && p.goal == nil {
				fmt.Fprintf(os.Stderr, "  without %s: %v\n", p.name, err)
				absent = append(absent, figure.Row{Name: p.name, Note: "not measured: " + err.Error()})
				break
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			done.End()
			kibs[p.name] = append(kibs[p.name], h.rss/kib)
			running[p.name] = append(running[p.name], h.goroutines)
		}
	}
	memory := figure.Table{Title: fmt.Sprintf("Memory of an idle task (one page, two iframes of other processes), %d of them in a fresh process: growth of its RSS", tasks), Unit: "KiB"}
	goroutines := figure.Table{Title: fmt.Sprintf("Goroutines of an idle task, %d of them", tasks), Unit: "goroutines"}
	limits := map[string]float64{bothLinks: 4, oneLink: 2}
	for _, p := range players {
		if kibs[p.name] == nil {
			continue
		}
		memory.Rows = append(memory.Rows, figure.Row{Name: p.name, Value: kibs[p.name], Goal: p.goal, Note: p.note})
		if p.client == puppeteer {
			continue
		}
		r := figure.Row{Name: p.name, Value: running[p.name]}
		if limit, ok := limits[p.name]; ok {
			r.Goal = figure.ValueAtMost(limit + 0.01) // the node's own are spread over its tasks
		}
		goroutines.Rows = append(goroutines.Rows, r)
	}
	memory.Rows = append(memory.Rows, absent...)
	return []figure.Table{memory, goroutines}, nil
}

// doors are where a client gets in: what peers ask for in their handshakes, and
// of targets, the front understands and the fake browser alone does not.
func (p player) doors(places []stage.Place) []stage.Place {
	if p.client == worker.Floor || p.client == worker.Holdfast {
		return places
	}
	doors := slices.Clone(places)
	for i := range doors {
		doors[i].Browser = strings.Replace(doors[i].Browser, "/devtools/browser/", "/fast/", 1)
	}
	return doors
}
