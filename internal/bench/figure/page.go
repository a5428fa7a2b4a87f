package figure

import (
	"fmt"
	"strings"
)

// Between puts text into a page, between the marks of that name:
//
//	<!-- name: begin … -->
//	<!-- name: end -->
func Between(page, name, text string) (string, error) {
	begin, end := "<!-- "+name+": begin", "<!-- "+name+": end -->"
	head, rest, found := strings.Cut(page, begin)
	if !found {
		return "", fmt.Errorf("no mark %q", begin)
	}
	mark, rest, found := strings.Cut(rest, "-->\n")
	if !found {
		return "", fmt.Errorf("mark %q has no end", begin)
	}
	_, tail, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("no mark %q", end)
	}
	return head + begin + mark + "-->\n" + text + end + tail, nil
}

// Markdown writes every table of the measurements that are chosen by name, and where
// its figures are from.
func (r *Report) Markdown(chosen func(name string) bool) string {
	var b strings.Builder
	for _, m := range r.Measurements {
		if !chosen(m.Name) {
			continue
		}
		fmt.Fprintf(&b, "### `make bench BENCH=%s`\n\n", m.Name)
		for i := range m.Tables {
			b.WriteString(m.Tables[i].Markdown() + "\n")
		}
		on := m.Source.Machine
		if m.Source.Browser != "" {
			on = m.Source.Browser + " on " + on
		}
		fmt.Fprintf(&b, "Measured at %s, %s, %s.\n\n", m.Source.Commit, m.Source.Go, on)
	}
	return b.String()
}

// Goals writes a line for each goal there is.
func (r *Report) Goals() string {
	var b strings.Builder
	b.WriteString("| what | measured | goal | |\n|---|---|---|---|\n")
	for _, m := range r.Measurements {
		for _, t := range m.Tables {
			for _, row := range t.Rows {
				met, ok := row.Met()
				if !ok {
					continue
				}
				s, write, unit := row.Judged(), number, " "+t.Unit
				if !row.Goal.Value && len(row.Ratio) > 0 {
					write, unit = ratio, ""
				}
				measured := write(s.Median()) + unit
				if len(s) > 1 {
					measured += fmt.Sprintf(" (%s … %s)", write(s.Min()), write(s.Max()))
				}
				verdict := "met"
				if !met {
					verdict = "**missed**, [why](#make-bench-bench" + m.Name + ")"
				}
				fmt.Fprintf(&b, "| %s: %s | %s | %s | %s |\n", t.Title, row.Name, measured, row.Goal, verdict)
			}
		}
	}
	return b.String()
}
