package main

import (
	"errors"
	"flag"
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

// pages have marks between which figures are written.
var pages = []struct {
	name  string
	marks map[string]func(*figure.Report, []point) string
}{
	{"docs/performance.md", map[string]func(*figure.Report, []point) string{
		"goals":   func(r *figure.Report, _ []point) string { return r.Goals() },
		"figures": func(r *figure.Report, _ []point) string { return r.Markdown() },
		"scale":   func(_ *figure.Report, p []point) string { return scaleTable(p) },
	}},
	{"README.md", map[string]func(*figure.Report, []point) string{
		"beside": func(r *figure.Report, _ []point) string { return beside(r) },
	}},
}

// publish writes the stored figures into the pages, or says with -check which
// page has others.
func publish(args []string) error {
	flags := flag.NewFlagSet("docs", flag.ExitOnError)
	check := flags.Bool("check", false, "write nothing, and fail where a page has other figures")
	_ = flags.Parse(args) // it exits
	b, err := newBench()
	if err != nil {
		return err
	}
	report, err := figure.Read(filepath.Join(b.root, figuresFile))
	if err != nil {
		return err
	}
	explain(report)
	points, err := readPoints(filepath.Join(b.root, scaleFile))
	if err != nil {
		return err
	}
	var stale []error
	for _, p := range pages {
		name := filepath.Join(b.root, p.name)
		was, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		text := string(was)
		for mark, write := range p.marks {
			if text, err = figure.Between(text, mark, write(report, points)); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
		switch {
		case text == string(was):
		case *check:
			stale = append(stale, fmt.Errorf("%s has other figures than %s: make bench-docs", p.name, figuresFile))
		default:
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				return err
			}
		}
	}
	return errors.Join(stale...)
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
	value             bool
}{
	{"round trip, Chromium", "roundtrip", 0, false},
	{"round trip, fake browser", "roundtrip-fake", 0, false},
	{"events nobody wants, per second", "intake", 0, false},
	{"a dialog seen", "dialog", 0, false},
	{"memory of an idle connection or task", peersMemory, 0, true},
}

// peersMemory is the measurement that has everybody's memory but ours.
const peersMemory = "memory-peers"

// beside is a line per client.
func beside(r *figure.Report) string {
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
			measurement, row := c.measurement, name
			if c.measurement == peersMemory && name == worker.Holdfast {
				measurement, row = "memory", bothLinks
			}
			if m := r.Get(measurement); m != nil && c.table < len(m.Tables) {
				row := m.Tables[c.table].Row(row)
				switch {
				case row == nil:
				case c.value && len(row.Value) > 0:
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
