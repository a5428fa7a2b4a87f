package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// point is a node that holds so many idle tasks, what one of them costs, and what
// it gets from the node.
type point struct {
	Tasks      int           `json:"tasks"`
	Links      int           `json:"links"`    // of a task
	RSS        float64       `json:"rss_kib"`  // per task
	Heap       float64       `json:"heap_kib"` // per task
	Goroutines float64       `json:"goroutines"`
	FDs        float64       `json:"fds"`
	Resident   float64       `json:"resident_mib"` // of the process
	Files      int           `json:"files"`        // of the process
	Started    float64       `json:"started_s"`    // all of them
	Idle       float64       `json:"idle_cpu"`     // processors that all of them take
	RoundTrip  [2]float64    `json:"roundtrip_us"` // median, and 99th of a hundred
	Dialog     [2]float64    `json:"dialog_us"`    // visible
	Drop       [2]float64    `json:"drop_ms"`      // from all links' cut to active
	DropCPU    float64       `json:"drop_cpu_ms"`  // of the node, per task
	Limit      uint64        `json:"limit"`        // of descriptors
	Source     figure.Source `json:"source"`
}

// scaleFile is where points are kept.
const scaleFile = "docs/scale.json"

const (
	// spare are descriptors that a process needs besides its links.
	spare = 100
	// crowd is how many browsers a process of fakes has: with two links each it
	// has fewer descriptors than the node.
	crowd = 5000
	// idling is how long an idle node is looked at. In that time each link is pinged
	// once.
	idling = 5 * time.Second
	// dialogs and evaluations are how many there are for a 99th of a hundred.
	dialogs, evaluations = 500, 2000
)

// scale measures some sizes of a node and puts them among those that are known.
func scale(args []string) error {
	flags := flag.NewFlagSet("scale", flag.ExitOnError)
	list := flags.String("sizes", "10,100,1000,5000,10000", "how many tasks, separated by commas")
	_ = flags.Parse(args) // it exits
	b, err := newBench()
	if err != nil {
		return err
	}
	points, err := readPoints(filepath.Join(b.root, scaleFile))
	if err != nil {
		return err
	}
	for text := range strings.SplitSeq(*list, ",") {
		tasks, err := strconv.Atoi(text)
		if err != nil || tasks < 1 {
			return fmt.Errorf("%q is no number of tasks", text)
		}
		for _, links := range []int{2, 1} {
			begun := time.Now()
			p, err := b.point(tasks, links)
			for _, undo := range slices.Backward(b.undo) {
				undo()
			}
			b.undo = nil
			if err != nil {
				return fmt.Errorf("%d tasks with %d links each: %w", tasks, links, err)
			}
			fmt.Printf("%.0f s: %+v\n", time.Since(begun).Seconds(), p)
			points = p.among(points, tasks)
			out, err := json.MarshalIndent(points, "", " ")
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(b.root, scaleFile), append(out, '\n'), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// among puts p in the place of the point it measured anew. One that the machine
// has cut down takes the place of what it was to be, too.
func (p point) among(points []point, asked int) []point {
	points = slices.DeleteFunc(points, func(o point) bool {
		return o.Links == p.Links && (o.Tasks == p.Tasks || o.Tasks > p.Tasks && o.Tasks <= asked)
	})
	points = append(points, p)
	slices.SortFunc(points, func(a, b point) int {
		return cmp.Or(cmp.Compare(b.Links, a.Links), cmp.Compare(a.Tasks, b.Tasks))
	})
	return points
}

func readPoints(name string) (points []point, err error) {
	b, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return points, json.Unmarshal(b, &points)
}

// descriptors is how many this process and those it starts may have. Who may raises
// the hard limit to want, too; the Go runtime raises the soft one.
func descriptors(want uint64) (uint64, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	if limit.Max < want && unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: want, Max: want}) == nil {
		return want, nil
	}
	return limit.Max, nil
}

// point measures one size. Where the limit of descriptors is in the way, it is
// the most tasks that fit.
func (b *bench) point(tasks, links int) (p point, err error) {
	limit, err := descriptors(uint64(links*tasks + spare))
	if err != nil {
		return p, err
	}
	tasks = min(tasks, int(limit-spare)/links)
	// The first one's wire is looked at. It has a process of its own, where no
	// other's garbage is collected when a dialog is told.
	stages := make([]*stage.Fakes, 1)
	if stages[0], err = b.fakes(); err != nil {
		return p, err
	}
	places, err := stages[0].Make(stage.Making{Browsers: 1, Frames: 2, Fast: true})
	if err != nil {
		return p, err
	}
	for left := tasks - 1; left > 0; left -= crowd {
		fakes, err := b.fakes()
		if err != nil {
			return p, err
		}
		more, err := fakes.Make(stage.Making{Browsers: min(left, crowd), Frames: 2})
		if err != nil {
			return p, err
		}
		stages, places = append(stages, fakes), append(places, more...)
	}
	h, done, err := b.hold(worker.Holdfast, worker.Options{Links: links}, places)
	if err != nil {
		return p, err
	}
	b.later(done.End)
	p = point{
		Tasks: tasks, Links: links, RSS: h.rss / kib, Heap: h.heap / kib, Goroutines: h.goroutines, FDs: h.fds,
		Resident: float64(h.resident) / (kib * kib), Files: h.files, Started: h.started.Seconds(), Limit: limit, Source: b.source(),
	}
	took, err := b.processor(done, func() error { time.Sleep(idling); return nil })
	if err != nil {
		return p, err
	}
	p.Idle = took.Seconds() / idling.Seconds()
	a, err := done.tell(worker.Order{Do: "evaluate", N: evaluations})
	if err != nil {
		return p, err
	}
	p.RoundTrip = [2]float64{micro(a.NS).Median(), micro(a.NS).Quantile(0.99)}
	var seen figure.Samples
	for range dialogs {
		visible, _, err := b.oneDialog(stages[0], player{hand: done, place: places[0]})
		if err != nil {
			return p, err
		}
		seen = append(seen, float64(visible)/1e3)
	}
	p.Dialog = [2]float64{seen.Median(), seen.Quantile(0.99)}
	var back figure.Samples
	drops := 1 + 4*min(1, 1000/tasks) // where it is one of some seconds, once will do
	took, err = b.processor(done, func() error {
		node := player{name: worker.Holdfast, hand: done, cuts: &cuts{rest: &rest{least: calm, since: time.Now()}}}
		for range drops {
			a, err := node.cut(func() error { return dropAll(stages) })
			if err != nil {
				return err
			}
			back = append(back, milli(a.NS)...)
		}
		return nil
	})
	if err != nil {
		return p, err
	}
	p.Drop = [2]float64{back.Median(), back.Quantile(0.99)}
	p.DropCPU = took.Seconds() * 1e3 / float64(drops*tasks)
	return p, nil
}

// dropAll has all browsers cut their connections at once.
func dropAll(all []*stage.Fakes) error {
	errs := make(chan error, len(all))
	for _, fakes := range all {
		go func() { errs <- fakes.Drop() }()
	}
	var err error
	for range all {
		err = errors.Join(err, <-errs)
	}
	return err
}

// processor is how much processor time a client takes meanwhile.
func (b *bench) processor(h *hand, meanwhile func() error) (time.Duration, error) {
	before, err := used(h.PID())
	if err != nil {
		return 0, err
	}
	if err := meanwhile(); err != nil {
		return 0, err
	}
	after, err := used(h.PID())
	return after - before, err
}

// used is the processor time that a process has had.
func used(pid int) (time.Duration, error) {
	const tick = 10 * time.Millisecond // as every Linux tells it
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("the processor time of %d: %q", pid, b)
	}
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		return 0, err
	}
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick, err
}

// micro are nanoseconds as microseconds.
func micro(ns []int64) (s figure.Samples) {
	for _, x := range ns {
		s = append(s, float64(x)/1e3)
	}
	return s
}
