package main

import (
	"fmt"
	"math"
	"strings"

	"holdfast/internal/bench/figure"
	"holdfast/messages"
)

// What the text compares the points with.
const (
	systemdFiles = 65536 // LimitNOFILE in deploy/systemd/holdfast.service
	httpFiles    = 8192  // connections of the API, internal/api MaxConns
	manyTasks    = messages.DefaultMaxTasks
	// launchedFiles are what a browser of the node's own takes besides: a pipe and its process.
	launchedFiles = 2
)

// draw is the picture of the points, or "" of none.
func draw(points []point) string {
	if len(points) == 0 {
		return ""
	}
	column := func(name string, links int, of func(point) float64) figure.Line {
		l := figure.Line{Name: name}
		for _, p := range points {
			if p.Links == links {
				l.X, l.Y = append(l.X, float64(p.Tasks)), append(l.Y, of(p))
			}
		}
		return l
	}
	const tasks = "tasks of the node"
	return figure.SVG(
		figure.Plot{Title: "What an idle task costs", XName: tasks, YName: "KiB", Lines: []figure.Line{
			column("RSS, both links", 2, func(p point) float64 { return p.RSS }),
			column("heap, both links", 2, func(p point) float64 { return p.Heap }),
			column("RSS, one link", 1, func(p point) float64 { return p.RSS }),
			column("heap, one link", 1, func(p point) float64 { return p.Heap }),
		}},
		figure.Plot{Title: "What one of them gets, both links each", XName: tasks, YName: "µs", IsLogY: true, Lines: []figure.Line{
			column("round trip p50", 2, func(p point) float64 { return p.RoundTrip[0] }),
			column("round trip p99", 2, func(p point) float64 { return p.RoundTrip[1] }),
			column("dialog seen p50", 2, func(p point) float64 { return p.Dialog[0] }),
			column("dialog seen p99", 2, func(p point) float64 { return p.Dialog[1] }),
		}},
		figure.Plot{Title: "All links cut at once, until a task is active again", XName: tasks, YName: "ms", IsLogY: true, Lines: []figure.Line{
			column("p50, both links", 2, func(p point) float64 { return p.Drop[0] }),
			column("p99, both links", 2, func(p point) float64 { return p.Drop[1] }),
			column("p50, one link", 1, func(p point) float64 { return p.Drop[0] }),
			column("p99, one link", 1, func(p point) float64 { return p.Drop[1] }),
		}},
	)
}

// scaleTable is what the page has of the points.
func scaleTable(points []point) string {
	var b strings.Builder
	b.WriteString("| tasks | links a task | RSS a task | heap a task | goroutines a task | descriptors | the process | all attached in | round trip p50, p99 | dialog seen p50, p99 | all cut, active again p50, p99 |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|\n")
	ends := map[int]point{} // the largest, by links
	for _, p := range points {
		fmt.Fprintf(&b, "| %s | %d | %.0f KiB | %.0f KiB | %.2f | %s | %.0f MiB | %.1f s | %s µs | %s µs | %s ms |\n",
			thousands(p.Tasks), p.Links, p.RSS, p.Heap, p.Goroutines, thousands(p.Files), p.Resident, p.Started,
			pair(p.RoundTrip), pair(p.Dialog), pair(p.Drop))
		ends[p.Links] = p
	}
	two, one := ends[2], ends[1]
	if two.Tasks == 0 || one.Tasks == 0 {
		return b.String()
	}
	if two.Tasks < one.Tasks {
		fmt.Fprintf(&b, "\nThe machine's limit of %s descriptors lets %s tasks have both links, and no more.\n", thousands(int(two.Limit)), thousands(two.Tasks))
	}
	b.WriteString("\n| where one node ends, by the largest of each | both links | one link |\n|---|---|---|\n")
	row := func(what string, of func(p point) string) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", what, of(two), of(one))
	}
	row("descriptors a task", func(p point) string { return fmt.Sprint(p.Links) })
	row("RSS a task", func(p point) string { return fmt.Sprintf("%.0f KiB", p.RSS) })
	row("RSS of the process without one", func(p point) string { return fmt.Sprintf("%.0f MiB", p.base()) })
	row("goroutines a task", func(p point) string { return fmt.Sprintf("%.2f", p.Goroutines) })
	row("processor time of 1,000 idle tasks", func(p point) string { return fmt.Sprintf("%.1f %% of one", p.Idle/float64(p.Tasks)*1000*100) })
	row("processor time of a task that falls and comes back", func(p point) string { return fmt.Sprintf("%.1f ms", p.DropCPU) })
	for _, files := range []int{int(two.Limit), systemdFiles} {
		row("tasks on "+thousands(files)+" descriptors", func(p point) string { return thousands((files - spare) / p.Links) })
	}
	for _, gib := range []int{1, 4} {
		row(fmt.Sprintf("tasks in %d GiB", gib), func(p point) string {
			return thousands(int((float64(gib)*kib - p.base()) * kib / p.RSS))
		})
	}
	row("tasks that one processor keeps idle", func(p point) string { return thousands(int(float64(p.Tasks) / p.Idle)) })
	row(thousands(manyTasks)+" tasks (`limits.max_tasks` as it comes) need", func(p point) string {
		return fmt.Sprintf("%s descriptors, %.0f MiB, %.0f %% of a processor",
			thousands(manyTasks*p.Links+spare), p.base()+manyTasks*p.RSS/kib, p.Idle/float64(p.Tasks)*manyTasks*100)
	})
	fmt.Fprintf(&b, `
So N tasks need a `+"`LimitNOFILE`"+` of 2·N + %d, or N + %d with one link, and %s more where
as many connections come over HTTP as are let in; the %s of deploy/systemd are enough for
%s tasks and all of those. A browser that the node launches itself takes %d more.
Whichever is used up first, descriptors, memory or processors, is the node's end; and the
last column grows with the tasks that fall together, whatever else is left.

Measured at %s, %s, %s; the fake browsers had the same processors.
`, spare, spare, thousands(httpFiles), thousands(systemdFiles), thousands((systemdFiles-spare-httpFiles)/2), launchedFiles,
		two.Source.Commit, two.Source.Go, two.Source.Machine)
	return b.String()
}

// base is what the process takes without a task, in MiB.
func (p point) base() float64 { return p.Resident - float64(p.Tasks)*p.RSS/kib }

// pair writes a median and a 99th of a hundred.
func pair(q [2]float64) string {
	return thousands(int(math.Round(q[0]))) + ", " + thousands(int(math.Round(q[1])))
}

// thousands writes n as it stands in tables.
func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
