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

// How many tasks a node holds: many, and as many as it may by default.
const many, full = 1000, 5000

// memory is what an idle task costs, one with a page and two iframes of other
// processes, and what a connection to such a browser costs others. Of those on Node
// one will do.
func (b *bench) memory() ([]figure.Table, error) {
	players := []player{{name: worker.Floor, client: worker.Floor, note: "a connection, read on demand"}, both, one}
	for _, p := range append(slices.Clone(goPeers), puppeteer) {
		players = append(players, player{name: p, client: p})
	}
	costs, absent, err := b.idle(players, many)
	if err != nil {
		return nil, err
	}
	return costs[many].tables(many, players, absent), nil
}

// memory5000 is the same of a full node, and beside it one that is not.
func (b *bench) memory5000() ([]figure.Table, error) {
	players := []player{both, one}
	costs, _, err := b.idle(players, many, full)
	if err != nil {
		return nil, err
	}
	more := figure.Table{Title: fmt.Sprintf("Memory of an idle task of %d", full), Unit: "KiB", Floor: fmt.Sprintf("one of %d in the same round", many)}
	for _, p := range players {
		kibs := costs[full].rss[p.name]
		more.Rows = append(more.Rows, figure.Row{Name: p.name, Value: kibs, Ratio: kibs.Over(costs[many].rss[p.name]), Goal: figure.RatioAtMost(1), Ours: true})
	}
	return append(costs[full].tables(full, players, nil), more), nil
}

var (
	both = player{name: bothLinks, client: worker.Holdfast, opts: worker.Options{Links: 2}, goal: figure.ValueAtMost(40)}
	one  = player{name: oneLink, client: worker.Holdfast, opts: worker.Options{Links: 1}, goal: figure.ValueAtMost(24)}
)

// cost is what an idle task costs each client, round by round.
type cost struct{ rss, goroutines map[string]figure.Samples }

// idle has every player hold each of those numbers of tasks by turns, in a fresh process
// each time. A peer that cannot is left out, and its row says why.
func (b *bench) idle(players []player, sizes ...int) (costs map[int]cost, absent []figure.Row, err error) {
	const times = 7
	fakes, err := b.fakes()
	if err != nil {
		return nil, nil, err
	}
	places, err := fakes.Make(stage.Making{Browsers: slices.Max(sizes), Frames: 2})
	if err != nil {
		return nil, nil, err
	}
	costs = map[int]cost{}
	for _, n := range sizes {
		costs[n] = cost{map[string]figure.Samples{}, map[string]figure.Samples{}}
	}
	cannot := map[string]bool{}
	for range times {
		for _, p := range players {
			for _, n := range sizes {
				if cannot[p.name] {
					continue
				}
				h, done, err := b.hold(p.client, p.opts, p.doors(places[:n]))
				if err != nil && (p.isOurs() || p.client == worker.Floor) {
					return nil, nil, fmt.Errorf("%s: %w", p.name, err)
				}
				if err != nil {
					fmt.Fprintf(os.Stderr, "  without %s: %v\n", p.name, err)
					absent = append(absent, figure.Row{Name: p.name, Note: "not measured: " + err.Error()})
					cannot[p.name] = true
					continue
				}
				done.End()
				costs[n].rss[p.name] = append(costs[n].rss[p.name], h.rss/kib)
				costs[n].goroutines[p.name] = append(costs[n].goroutines[p.name], h.goroutines)
			}
		}
	}
	return costs, absent, nil
}

// tables are those of so many tasks.
func (c cost) tables(tasks int, players []player, absent []figure.Row) []figure.Table {
	here := slices.DeleteFunc(slices.Clone(players), func(p player) bool {
		return slices.ContainsFunc(absent, func(r figure.Row) bool { return r.Name == p.name })
	})
	memory := tabulate(figure.Table{Title: fmt.Sprintf("Memory of an idle task (one page, two iframes of other processes), %d of them in a fresh process: growth of its RSS", tasks), Unit: "KiB"}, here, absent, c.rss, worker.Floor, true)
	here = slices.DeleteFunc(here, func(p player) bool { return p.client == puppeteer })
	goroutines := tabulate(figure.Table{Title: fmt.Sprintf("Goroutines of an idle task, %d of them", tasks), Unit: "goroutines"}, here, nil, c.goroutines, "", false)
	for name, links := range map[string]float64{bothLinks: 2, oneLink: 1} {
		// No more than the links have, so none is an actor's; the node's own are spread
		// over its tasks.
		goroutines.Row(name).Goal = figure.ValueAtMost(links + 0.01)
	}
	return []figure.Table{memory, goroutines}
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
