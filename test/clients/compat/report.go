package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// outcomes are how each test ended, by its file and title: passed, failed, skipped.
type outcomes map[string]outcome

type outcome struct {
	status string
	err    string // the first line of why it failed
}

const (
	passed  = "passed"
	failed  = "failed"
	skipped = "skipped" // or expected to fail
)

// suite is a file or a describe block of Playwright's JSON report.
type suite struct {
	File   string  `json:"file"`
	Title  string  `json:"title"`
	Suites []suite `json:"suites"`
	Specs  []struct {
		Title string `json:"title"`
		Tests []struct {
			ExpectedStatus string `json:"expectedStatus"`
			Status         string `json:"status"`
			Results        []struct {
				Status string `json:"status"`
				Error  struct {
					Message string `json:"message"`
				} `json:"error"`
			} `json:"results"`
		} `json:"tests"`
	} `json:"specs"`
}

// readReport reads the outcomes from a report of Playwright.
func readReport(file string) (outcomes, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var report struct {
		Suites []suite `json:"suites"`
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	all := outcomes{}
	for _, s := range report.Suites {
		all.add(s, strings.TrimSuffix(path.Base(s.File), ".spec.ts"))
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("report: no test ran: %v", report.Errors)
	}
	return all, nil
}

// add adds the tests of s under a name.
func (o outcomes) add(s suite, name string) {
	for _, spec := range s.Specs {
		for _, t := range spec.Tests {
			var end outcome
			switch {
			case t.Status == skipped || t.ExpectedStatus != passed && t.Status == "expected":
				end.status = skipped
			case t.Status == "expected":
				end.status = passed
			default:
				end.status = failed
				for _, r := range t.Results {
					end.err, _, _ = strings.Cut(r.Error.Message, "\n")
				}
			}
			o[name+" › "+spec.Title] = end
		}
	}
	for _, inner := range s.Suites {
		o.add(inner, name+" › "+inner.Title)
	}
}

// count is how many tests ended so.
func (o outcomes) count(status string) int {
	n := 0
	for _, end := range o {
		if end.status == status {
			n++
		}
	}
	return n
}

func (o outcomes) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped or expected to fail", o.count(passed), o.count(failed), o.count(skipped))
}

// printFailures prints the tests that failed.
func (o outcomes) printFailures(w io.Writer) {
	for _, name := range o.names() {
		if o[name].status == failed {
			fmt.Fprintf(w, "  %s: %s\n", name, o[name].err)
		}
	}
}

func (o outcomes) names() []string {
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// printDifferences prints each test that ends otherwise through the gateway than directly, and
// returns how many pass directly and do not pass through it.
func printDifferences(w io.Writer, direct, through outcomes) (lost int) {
	for _, name := range direct.names() {
		d, t := direct[name], through[name]
		switch {
		case d.status == t.status:
			continue
		case t.status == "":
			t.status = "did not run"
		}
		if d.status == passed {
			lost++
		}
		fmt.Fprintf(w, "  %s: %s directly, %s through: %s\n", name, d.status, t.status, t.err)
	}
	return lost
}
