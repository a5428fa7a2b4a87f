package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"holdfast/messages"
)

// clean makes the characters visible that a terminal would obey: controls,
// escapes, and marks that turn the direction of writing.
func clean[S ~string](text S) string {
	s := string(text)
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

// clock shows a moment of today; the date is not worth the room.
func clock(s messages.Seconds) string {
	if s == 0 {
		return ""
	}
	return time.UnixMicro(int64(float64(s) * 1e6)).Format("15:04:05")
}

// until is how long it is to a moment, as people say it; "" where there is none.
func until(at messages.Seconds, now time.Time) string {
	if at == 0 {
		return ""
	}
	return "in " + length(time.Duration(float64(at-messages.SecondsOf(now))*float64(time.Second)))
}

// length is a duration in its two largest units, to the second.
func length(d time.Duration) string {
	s := int64(max(d, 0).Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	}
	return fmt.Sprintf("%d d %d h", s/86400, s%86400/3600)
}

// count is a number with its noun.
func count[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// quoted prints a text of a page, one line of it a line, behind a bar that no
// page can forge.
func quoted(w io.Writer, indent, text string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		fmt.Fprintf(w, "%s│ %s\n", indent, clean(line))
	}
}
