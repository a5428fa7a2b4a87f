package cli

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Terminal is what standard output is shown on. The zero value is a pipe or a file.
type Terminal struct {
	// Width is in columns; 0 is unknown, and nothing is cut.
	Width int
	// HasColor says that the terminal shows ANSI colors and cursor movements.
	HasColor bool
}

// screen is where tables and lines for people go.
type screen struct {
	io.Writer
	Terminal
}

// screen is standard output. NO_COLOR, set to anything, turns colors off
// (no-color.org).
func (p *Program) screen() screen {
	t := p.Terminal
	if p.Getenv != nil && p.Getenv("NO_COLOR") != "" {
		t.HasColor = false
	}
	return screen{p.Stdout, t}
}

// columnGap is how many blanks stand between two columns.
const columnGap = 2

// minColumn is the width below which no column is cut.
const minColumn = 12

// table prints aligned columns, in the width of the screen. A cell is already
// clean. Only flush prints.
type table struct {
	out  screen
	head []string
	rows [][]string
	drop []string            // columns that may be left out, the first one first
	cut  []string            // columns that may be cut, the first one first
	ink  map[string]painting // by column
}

// painting colors a cell.
type painting func(string) string

func newTable(out screen, head ...string) *table {
	return &table{out: out, head: head, ink: map[string]painting{}}
}

// fit names the columns that give way on a narrow screen: those of drop are left
// out, then those of cut are cut, each list in its order.
func (t *table) fit(drop, cut []string) *table {
	t.drop, t.cut = drop, cut
	return t
}

// paint colors the cells of a column.
func (t *table) paint(column string, p painting) *table {
	t.ink[column] = p
	return t
}

func (t *table) row(cells ...string) {
	for i, c := range cells {
		if c == "" {
			cells[i] = "-"
		}
	}
	t.rows = append(t.rows, cells)
}

func (t *table) flush() {
	widths := make([]int, len(t.head))
	for i, h := range t.head {
		widths[i] = utf8.RuneCountInString(h)
		for _, r := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(r[i]))
		}
	}
	left := t.fitted(widths)
	t.line(t.head, widths, left, false)
	for _, r := range t.rows {
		t.line(r, widths, left, true)
	}
}

// fitted narrows widths to the screen and returns the columns that are left.
func (t *table) fitted(widths []int) []int {
	left := make([]int, len(t.head))
	for i := range left {
		left[i] = i
	}
	if t.out.Width <= 0 {
		return left
	}
	over := func() int {
		sum := columnGap * (len(left) - 1)
		for _, i := range left {
			sum += widths[i]
		}
		return sum - t.out.Width
	}
	for _, name := range t.drop {
		if over() <= 0 {
			return left
		}
		left = slices.DeleteFunc(left, func(i int) bool { return t.head[i] == name })
	}
	for _, name := range t.cut {
		i := slices.Index(t.head, name)
		if n := over(); n > 0 && slices.Contains(left, i) {
			widths[i] = max(widths[i]-n, min(widths[i], minColumn))
		}
	}
	return left
}

func (t *table) line(cells []string, widths, left []int, isRow bool) {
	var b strings.Builder
	for at, i := range left {
		cell := shortened(cells[i], widths[i])
		pad := widths[i] - utf8.RuneCountInString(cell)
		if p := t.ink[t.head[i]]; p != nil && isRow && t.out.HasColor {
			cell = p(cell)
		}
		b.WriteString(cell)
		if at < len(left)-1 {
			b.WriteString(strings.Repeat(" ", pad+columnGap))
		}
	}
	b.WriteByte('\n')
	_, _ = io.WriteString(t.out, b.String())
}

// shortened is s in n runes at most.
func shortened(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:max(n-1, 0)]) + "…"
}

// ANSI colors, of the sixteen that every palette has.
const (
	inkRed    = "\x1b[31m"
	inkGreen  = "\x1b[32m"
	inkYellow = "\x1b[33m"
	inkOff    = "\x1b[0m"
)

// inks are the colors of states.
var inks = map[string]string{
	"active": inkGreen, "ok": inkGreen, "up": inkGreen, "running": inkGreen,
	"starting": inkYellow, "recovering": inkYellow, "dialing": inkYellow, "backoff": inkYellow, "dialog": inkYellow, "paused": inkYellow, "waiting": inkYellow,
	"wedged": inkRed, "lost": inkRed, "down": inkRed, "crashed": inkRed, "hung": inkRed, "dialog_unreachable": inkRed,
}

// paintState colors a cell by the state it begins with.
func paintState(cell string) string {
	word, _, _ := strings.Cut(cell, " ")
	if ink := inks[strings.TrimSuffix(word, ",")]; ink != "" {
		return ink + cell + inkOff
	}
	return cell
}
