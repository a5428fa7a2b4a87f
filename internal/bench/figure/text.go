package figure

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// number writes x with three digits that count, and thousands apart.
func number(x float64) string {
	if x == 0 || math.IsInf(x, 0) || math.IsNaN(x) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	decimals := 2 - int(math.Floor(math.Log10(math.Abs(x))))
	s := strconv.FormatFloat(x, 'f', max(0, min(decimals, 4)), 64)
	whole, fraction, found := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if found {
		return whole + "." + fraction
	}
	return whole
}

func ratio(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) + "×" }

func (g *Goal) String() string {
	if g == nil {
		return ""
	}
	write := ratio
	if g.Value {
		write = number
	}
	bound := ""
	if g.AtMost != nil {
		bound = "≤ " + write(*g.AtMost)
	} else {
		bound = "≥ " + write(*g.AtLeast)
	}
	if g.Always {
		bound += ", always"
	}
	return bound
}

// cells are a table as it is printed: a head and a line per row.
func (t *Table) cells() [][]string {
	lines := [][]string{{"", "median " + t.Unit, "min … max", "to " + t.floor(), "min … max", "goal", ""}}
	for _, r := range t.Rows {
		line := []string{r.Name, "", "", "", "", r.Goal.String(), ""}
		if len(r.Value) > 0 {
			line[1] = number(r.Value.Median())
		}
		if len(r.Value) > 1 {
			line[2] = number(r.Value.Min()) + " … " + number(r.Value.Max())
		}
		if len(r.Ratio) > 0 {
			line[3], line[4] = ratio(r.Ratio.Median()), ratio(r.Ratio.Min())+" … "+ratio(r.Ratio.Max())
		}
		if met, ok := r.Met(); ok && met {
			line[6] = "met"
		} else if ok {
			line[6] = "**missed**"
		}
		for _, note := range []string{r.Note, r.Reason} {
			if note != "" {
				line[6] = strings.TrimLeft(line[6]+"; "+note, "; ")
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// floor is what ratios are to.
func (t *Table) floor() string { return cmp.Or(t.Floor, "the floor") }

// caption is what stands under a table.
func (t *Table) caption() string {
	if len(t.Noise) == 0 {
		return ""
	}
	return fmt.Sprintf("Noise, %s beside itself: median %s, %s … %s over %d rounds.",
		t.floor(), ratio(t.Noise.Median()), ratio(t.Noise.Min()), ratio(t.Noise.Max()), len(t.Noise))
}

// Markdown writes the table for a page.
func (t *Table) Markdown() string {
	var b strings.Builder
	lines := t.cells()
	fmt.Fprintf(&b, "**%s**\n\n", t.Title)
	for i, line := range lines {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(line)))
		}
	}
	if c := t.caption(); c != "" {
		fmt.Fprintf(&b, "\n%s\n", c)
	}
	return b.String()
}

// Text writes the table for a terminal.
func (t *Table) Text() string {
	lines := t.cells()
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", t.Title)
	for _, line := range lines {
		text := "  "
		for i, cell := range line {
			text += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		b.WriteString(strings.ReplaceAll(strings.TrimRight(text, " "), "**", "") + "\n")
	}
	if c := t.caption(); c != "" {
		fmt.Fprintf(&b, "  %s\n", c)
	}
	return b.String()
}
