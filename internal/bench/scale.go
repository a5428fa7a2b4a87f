package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// point is a node that holds so many idle tasks with both links, and what one of
// them gets from it.
type point struct {
	Tasks      int           `json:"tasks"`
	RSS        float64       `json:"rss_kib"`  // per task
	Heap       float64       `json:"heap_kib"` // per task
	Goroutines float64       `json:"goroutines"`
	FDs        float64       `json:"fds"`
	Resident   float64       `json:"resident_mib"` // of the process
	Files      int           `json:"files"`        // of the process
	Started    float64       `json:"started_s"`    // all of them
	RoundTrip  [2]float64    `json:"roundtrip_us"` // median, and 99th of a hundred
	Dialog     [2]float64    `json:"dialog_us"`    // visible
	Limit      uint64        `json:"limit"`        // of descriptors
	Source     figure.Source `json:"source"`
}

// scaleFile is where points are kept, scalePicture what is drawn of them.
const (
	scaleFile    = "docs/scale.json"
	scalePicture = "docs/scale.svg"
)

// systemdFiles is LimitNOFILE in deploy/systemd/holdfast.service.
const systemdFiles = 65536

// spare are descriptors that a process needs besides its links.
const spare = 100

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
		p, err := b.point(tasks)
		for _, undo := range slices.Backward(b.undo) {
			undo()
		}
		b.undo = nil
		if err != nil {
			return fmt.Errorf("%d tasks: %w", tasks, err)
		}
		fmt.Printf("%+v\n", p)
		// A size that is cut down by the machine takes the place of what it was to be.
		points = slices.DeleteFunc(points, func(o point) bool { return o.Tasks == p.Tasks || o.Tasks > p.Tasks && p.Tasks < tasks })
		points = append(points, p)
		slices.SortFunc(points, func(a, b point) int { return a.Tasks - b.Tasks })
		out, err := json.MarshalIndent(points, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(b.root, scaleFile), append(out, '\n'), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(b.root, scalePicture), []byte(draw(points)), 0o644)
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

// point measures one size. Where the limit of descriptors is in the way, it is
// the most tasks that fit.
func (b *bench) point(tasks int) (p point, err error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return p, err
	}
	// Who may raises the hard limit, too; the Go runtime raises the soft one.
	if want := uint64(2*tasks + spare); limit.Max < want {
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: want, Max: want})
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			return p, err
		}
	}
	tasks = min(tasks, int(limit.Max-spare)/2)
	// The first one's wire is looked at. The others are on several processes: one
	// of them has as few descriptors as the node.
	var places []stage.Place
	var first *stage.Fakes
	for left := tasks; left > 0; {
		fakes, err := b.fakes()
		if err != nil {
			return p, err
		}
		if first == nil {
			first = fakes
			if places, err = fakes.Make(stage.Making{Browsers: 1, Frames: 2, Fast: true}); err != nil {
				return p, err
			}
			left--
		}
		n := min(left, 5000)
		more, err := fakes.Make(stage.Making{Browsers: n, Frames: 2})
		if err != nil {
			return p, err
		}
		places, left = append(places, more...), left-n
	}
	h, done, err := b.hold(worker.Holdfast, worker.Options{Links: 2}, places)
	if err != nil {
		return p, err
	}
	b.later(done.End)
	p = point{
		Tasks: tasks, RSS: h.rss / kib, Heap: h.heap / kib, Goroutines: h.goroutines, FDs: h.fds,
		Resident: float64(h.resident) / (kib * kib), Files: h.files, Started: h.started.Seconds(), Limit: limit.Max, Source: b.source(),
	}
	a, err := done.tell(worker.Order{Do: "evaluate", N: 2000})
	if err != nil {
		return p, err
	}
	p.RoundTrip = [2]float64{micro(a.NS).Median(), micro(a.NS).Quantile(0.99)}
	var seen figure.Samples
	for range 200 {
		visible, _, err := b.oneDialog(first, player{hand: done, place: places[0]})
		if err != nil {
			return p, err
		}
		seen = append(seen, float64(visible)/1e3)
	}
	p.Dialog = [2]float64{seen.Median(), seen.Quantile(0.99)}
	return p, nil
}

// micro are nanoseconds as microseconds.
func micro(ns []int64) (s figure.Samples) {
	for _, x := range ns {
		s = append(s, float64(x)/1e3)
	}
	return s
}

func draw(points []point) string {
	column := func(name string, of func(point) float64) figure.Line {
		l := figure.Line{Name: name}
		for _, p := range points {
			l.X, l.Y = append(l.X, float64(p.Tasks)), append(l.Y, of(p))
		}
		return l
	}
	return figure.SVG(
		figure.Plot{Title: "What an idle task costs", XName: "tasks of the node, both links each", YName: "KiB", Lines: []figure.Line{
			column("RSS", func(p point) float64 { return p.RSS }),
			column("heap", func(p point) float64 { return p.Heap }),
		}},
		figure.Plot{Title: "What one of them gets", XName: "tasks of the node, both links each", YName: "µs", LogY: true, Lines: []figure.Line{
			column("round trip p50", func(p point) float64 { return p.RoundTrip[0] }),
			column("round trip p99", func(p point) float64 { return p.RoundTrip[1] }),
			column("dialog seen p50", func(p point) float64 { return p.Dialog[0] }),
			column("dialog seen p99", func(p point) float64 { return p.Dialog[1] }),
		}},
	)
}

// scaleTable is what the page has of the points.
func scaleTable(points []point) string {
	var b strings.Builder
	b.WriteString("| tasks | RSS a task | heap a task | goroutines a task | descriptors | the process | all attached in | round trip p50, p99 | dialog seen p50, p99 |\n|---|---|---|---|---|---|---|---|---|\n")
	for _, p := range points {
		fmt.Fprintf(&b, "| %d | %.1f KiB | %.1f KiB | %.2f | %d | %.0f MiB | %.1f s | %.0f µs, %.0f µs | %.0f µs, %.0f µs |\n",
			p.Tasks, p.RSS, p.Heap, p.Goroutines, p.Files, p.Resident, p.Started, p.RoundTrip[0], p.RoundTrip[1], p.Dialog[0], p.Dialog[1])
	}
	if len(points) == 0 {
		return b.String()
	}
	last := points[len(points)-1]
	base := last.Resident - float64(last.Tasks)*last.RSS/kib
	perGiB := func(gib float64) int { return int((gib*1024 - base) * kib / last.RSS) }
	fmt.Fprintf(&b, `
Where one node ends, by the largest of these. Each task takes %.2f descriptors, so a limit
of %d is full at %d tasks, and the %d of deploy/systemd at %d. The process takes %.0f MiB,
and %.1f KiB a task: 1 GiB holds %d idle tasks, 4 GiB %d. The smaller of the two numbers is
the end; the default limit of 5,000 tasks needs %d descriptors and %.0f MiB. What few tasks
seem to cost more is what the first of them brings along.
`, last.FDs, last.Limit, int(float64(last.Limit)/last.FDs), systemdFiles, int(systemdFiles/last.FDs), base, last.RSS,
		perGiB(1), perGiB(4), int(5000*last.FDs), base+5000*last.RSS/kib)
	return b.String()
}
