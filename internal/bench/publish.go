package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/worker"
)

// figuresFile is where the samples are that the pages are written from, and with
// which a later run is compared.
const figuresFile = "docs/performance.json"

// scalePicture is drawn of the points.
const scalePicture = "docs/scale.svg"

// bridgeName is the measurement whose figures stand beside what they decide.
const bridgeName = "bridge"

// pages have marks between which figures are written.
var pages = []struct {
	name  string
	marks map[string]func(*figure.Report, []point) string
}{
	{"docs/performance.md", map[string]func(*figure.Report, []point) string{
		"goals": func(r *figure.Report, _ []point) string { return r.Goals() },
		"figures": func(r *figure.Report, _ []point) string {
			return r.Markdown(func(name string) bool { return name != bridgeName })
		},
		"scale":  func(_ *figure.Report, p []point) string { return scaleTable(p) },
		"beside": func(r *figure.Report, _ []point) string { return eachClient(r) },
	}},
	{"docs/bridge.md", map[string]func(*figure.Report, []point) string{
		"figures": func(r *figure.Report, _ []point) string {
			return r.Markdown(func(name string) bool { return name == bridgeName })
		},
	}},
}

// publish writes the stored figures into the pages.
func publish() error {
	b, err := newBench()
	if err != nil {
		return err
	}
	files, err := written(b.root)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(b.root, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// written are the pages and the picture as they are by the stored figures.
func written(root string) (map[string]string, error) {
	report, err := figure.Read(filepath.Join(root, figuresFile))
	if err != nil {
		return nil, err
	}
	explain(report)
	points, err := readPoints(filepath.Join(root, scaleFile))
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, p := range pages {
		b, err := os.ReadFile(filepath.Join(root, p.name))
		if err != nil {
			return nil, err
		}
		text := string(b)
		for mark, write := range p.marks {
			if text, err = figure.Between(text, mark, write(report, points)); err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
		}
		files[p.name] = text
	}
	if len(points) > 0 {
		files[scalePicture] = draw(points)
	}
	return files, nil
}

// explain gives the reasons to what is missed.
func explain(r *figure.Report) {
	for _, m := range r.Measurements {
		for _, t := range m.Tables {
			for i := range t.Rows {
				row := &t.Rows[i]
				if met, ok := row.Met(); ok && !met {
					row.Reason = reasons[m.Name+": "+row.Name]
				}
			}
		}
	}
}

// besides are the columns of the table of clients: of a measurement, its table,
// and what is taken from it.
var besides = []struct {
	head, measurement string
	table             int
	isValue           bool
}{
	{"round trip, Chromium", "roundtrip", 0, false},
	{"round trip, fake browser", "roundtrip-fake", 0, false},
	{"unwanted events per second", "intake", 0, false},
	{"a dialog seen", "dialog", 0, false},
	{"memory of an idle connection or task", "memory", 0, true},
}

// eachClient has a line per client.
func eachClient(r *figure.Report) string {
	var b strings.Builder
	b.WriteString("| |")
	for _, c := range besides {
		b.WriteString(" " + c.head + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(besides)) + "\n")
	for _, name := range slices.Concat([]string{worker.Floor, worker.Holdfast}, goPeers, nodePeers) {
		line, any := "| "+name+" |", false
		for _, c := range besides {
			cell := " – |"
			row := name
			if c.isValue && name == worker.Holdfast {
				row = bothLinks
			}
			if m := r.Get(c.measurement); m != nil && c.table < len(m.Tables) {
				row := m.Tables[c.table].Row(row)
				switch {
				case row == nil:
				case c.isValue && len(row.Value) > 0:
					cell, any = fmt.Sprintf(" %.0f %s |", row.Value.Median(), m.Tables[c.table].Unit), true
				case len(row.Ratio) > 0:
					cell, any = fmt.Sprintf(" %.2f× |", row.Ratio.Median()), true
				}
			}
			line += cell
		}
		if any {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
