package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"holdfast/messages"
)

// clean makes the characters visible that a terminal would obey: controls,
// escapes, and marks that turn the direction of writing.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsPrint(r) && !unicode.Is(unicode.Cf, r):
			return r
		}
		return '\uFFFD'
	}, s)
}

// short is clean, and cut where a table would get unreadable.
func short(s string, n int) string {
	r := []rune(clean(s))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}

// table prints aligned columns; a cell is already clean.
type table struct{ w *tabwriter.Writer }

func newTable(out io.Writer, head ...string) table {
	t := table{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	t.row(head...)
	return t
}

func (t table) row(cells ...string) {
	for i, c := range cells {
		if c == "" {
			cells[i] = "-"
		}
	}
	fmt.Fprintln(t.w, strings.Join(cells, "\t"))
}

func (t table) flush() { _ = t.w.Flush() }

// clock shows a moment of today; the date is not worth the room.
func clock(s messages.Seconds) string {
	if s == 0 {
		return ""
	}
	return time.UnixMicro(int64(float64(s) * 1e6)).Format("15:04:05")
}
