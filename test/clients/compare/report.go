package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// charsPerToken is the rule by which tokens are counted: of all words in the answers to calls,
// and of the definitions of tools as JSON. Pictures and structured content are not counted.
const charsPerToken = 4

// report is what a comparison has found.
type report struct {
	Source  string   `json:"source"`
	Servers []result `json:"servers"`
}

// result is of one server.
type result struct {
	Name            string    `json:"name"`
	Version         string    `json:"version"`
	Tools           int       `json:"tools"`
	DefinitionChars int       `json:"definition_chars"`
	Tasks           []outcome `json:"tasks"`
}

// outcome is of one task.
type outcome struct {
	Task    string  `json:"task"`
	Solved  bool    `json:"solved"`
	Calls   int     `json:"calls"`
	Chars   int     `json:"chars"`
	Seconds float64 `json:"seconds"`
	Failure string  `json:"failure,omitempty"`
}

func (o outcome) tokens() int { return (o.Chars + charsPerToken - 1) / charsPerToken }

func (o outcome) String() string {
	word := "solved"
	if !o.Solved {
		word = "NOT SOLVED " + o.Failure
	}
	return fmt.Sprintf("%3d calls %6d tokens %6.2f s  %s", o.Calls, o.tokens(), o.Seconds, word)
}

// median is the middle of what is measured of each task, the higher one of two.
func median[T int | float64](tasks []outcome, of func(outcome) T) T {
	var list []T
	for _, t := range tasks {
		list = append(list, of(t))
	}
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[len(list)/2]
}

// sums are the lines of the first table.
func (r result) sums() (solved, calls, tokens int, seconds, longest float64) {
	for _, t := range r.Tasks {
		if t.Solved {
			solved++
		}
		calls += t.Calls
		tokens += t.tokens()
		seconds += t.Seconds
		longest = max(longest, t.Seconds)
	}
	return solved, calls, tokens, seconds, longest
}

// table is the report as Markdown: a line for each server, and one for each task.
func (r *report) table() string {
	var b strings.Builder
	b.WriteString("| server | solved | calls | tokens, median | tokens, all | seconds, median | seconds, longest | seconds, all | tools | tokens of their definitions |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, s := range r.Servers {
		solved, calls, tokens, seconds, longest := s.sums()
		fmt.Fprintf(&b, "| %s %s | %d of %d | %d | %d | %d | %.2f | %.1f | %.0f | %d | %d |\n", s.Name, s.Version, solved, len(s.Tasks), calls,
			median(s.Tasks, outcome.tokens), tokens, median(s.Tasks, func(o outcome) float64 { return o.Seconds }), longest, seconds, s.Tools, s.DefinitionChars/charsPerToken)
	}
	b.WriteString("\nCalls, tokens and seconds of each task; a task in brackets is not solved.\n\n| task |")
	for _, s := range r.Servers {
		b.WriteString(" " + s.Name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(r.Servers)) + "\n")
	for i, t := range r.Servers[0].Tasks {
		b.WriteString("| " + t.Task + " |")
		for _, s := range r.Servers {
			o := s.Tasks[i]
			cell := fmt.Sprintf("%d, %d, %.2f", o.Calls, o.tokens(), o.Seconds)
			if !o.Solved {
				cell = "(" + cell + ")"
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// mergeInto puts the results into a file, in the place of older ones of the same servers and tasks.
func (r *report) mergeInto(file string) error {
	older, err := read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r.write(file)
	}
	if err != nil {
		return err
	}
	for i, s := range r.Servers {
		at := slices.IndexFunc(older.Servers, func(o result) bool { return o.Name == s.Name })
		if at < 0 {
			continue
		}
		all := slices.Clone(older.Servers[at].Tasks)
		for _, t := range s.Tasks {
			if k := slices.IndexFunc(all, func(o outcome) bool { return o.Task == t.Task }); k >= 0 {
				all[k] = t
			} else {
				all = append(all, t)
			}
		}
		r.Servers[i].Tasks = all
	}
	return r.write(file)
}

func (r *report) write(file string) error {
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}

func read(file string) (*report, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &report{}
	return r, json.Unmarshal(text, r)
}

// source says what was measured, and on what.
func source(p places) string {
	commit, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		commit = []byte("unknown")
	}
	return fmt.Sprintf("%s, %s, %d processors", strings.TrimSpace(string(commit)), runtime.Version(), runtime.NumCPU())
}

// version is that of the server's package.
func version(p places, s server) string {
	text, err := os.ReadFile(filepath.Join(p.modules, s.module, "package.json"))
	var of struct{ Version string }
	if err != nil || json.Unmarshal(text, &of) != nil {
		return ""
	}
	return of.Version
}

const (
	resultsFile = "docs/comparison.json"
	page        = "docs/comparison.md"
)

// publish writes the stored results into the page.
func publish(root string) error {
	text, err := written(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, page), []byte(text), 0o644)
}

// Where the results stand in the page.
const (
	begin = "<!-- results: begin, by make compare -->\n"
	end   = "<!-- results: end -->"
)

// written is the page as it is by the stored results.
func written(root string) (string, error) {
	r, err := read(filepath.Join(root, resultsFile))
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		return "", err
	}
	before, rest, isThere := strings.Cut(string(text), begin)
	_, after, hasEnd := strings.Cut(rest, end)
	if !isThere || !hasEnd {
		return "", fmt.Errorf("%s has no place for the results", page)
	}
	return before + begin + "\n" + r.table() + "\nMeasured at " + r.Source + ".\n\n" + end + after, nil
}
