package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"holdfast/internal/bench/figure"
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
