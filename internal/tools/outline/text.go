package outline

import (
	"fmt"
	"strings"
)

// Cut says what a text leaves out.
type Cut struct {
	// IsCut says that lines are left out.
	IsCut bool
	// Lines and Chars are those that are shown, AllLines and AllChars those there are.
	Lines, Chars, AllLines, AllChars int
}

// size is the length of a line as it is written.
func (l Line) size() int { return 2*l.Depth + len("- ") + len(l.Text) + 1 }

func (l Line) write(b *strings.Builder) {
	for range l.Depth {
		b.WriteString("  ")
	}
	b.WriteString("- ")
	b.WriteString(l.Text)
	b.WriteByte('\n')
}

// Text writes the lines within a budget of bytes. Where it does not hold them all, what can be
// acted on goes first, with headings and dialogs; then the rest, from the top.
func (o *Outline) Text(budget int) (string, Cut) {
	cut := Cut{AllLines: len(o.Lines)}
	for _, l := range o.Lines {
		cut.AllChars += l.size()
	}
	var b strings.Builder
	if cut.AllChars <= budget {
		for _, l := range o.Lines {
			l.write(&b)
		}
		cut.Lines, cut.Chars = cut.AllLines, cut.AllChars
		return b.String(), cut
	}
	cut.IsCut = true
	isIn := o.chosen(budget - markerRoom)
	isGap := false
	for i, l := range o.Lines {
		if !isIn[i] {
			isGap = true
			continue
		}
		if isGap && cut.Lines > 0 {
			b.WriteString("…\n")
		}
		isGap = false
		l.write(&b)
		cut.Lines++
		cut.Chars += l.size()
	}
	fmt.Fprintf(&b, "[cut: %d of %d lines shown, %d of %d characters; more with max_chars or frame_id]\n", cut.Lines, cut.AllLines, cut.Chars, cut.AllChars)
	return b.String(), cut
}

// markerRoom is kept for the line that says what was cut.
const markerRoom = 140

// gapSize is what a gap between two lines costs at most.
const gapSize = 4

// chosen picks the lines that a budget holds.
func (o *Outline) chosen(budget int) []bool {
	isIn := make([]bool, len(o.Lines))
	left := budget
	take := func(fits func(Line) bool) {
		for i, l := range o.Lines {
			if isIn[i] || !fits(l) {
				continue
			}
			if cost := l.size() + gapSize; cost <= left {
				isIn[i], left = true, left-cost
			} else {
				return
			}
		}
	}
	take(func(l Line) bool { return l.IsInteractive || l.IsHead })
	take(func(Line) bool { return true })
	return isIn
}

// Diff writes the lines that are new as "+" and those that are gone as "-", within a budget of
// bytes. Lines that only moved are not written.
func Diff(before, now *Outline, budget int) string {
	count := make(map[string]int, len(before.Lines))
	for _, l := range before.Lines {
		count[l.Text]++
	}
	var b strings.Builder
	room := budget - markerRoom
	left := 0
	put := func(sign string, text string) {
		if b.Len()+len(sign)+len(text)+1 > room {
			left++
			return
		}
		b.WriteString(sign + text + "\n")
	}
	for _, l := range now.Lines {
		if count[l.Text] > 0 {
			count[l.Text]--
			continue
		}
		put("+ ", l.Text)
	}
	for _, l := range before.Lines {
		if count[l.Text] > 0 {
			count[l.Text]--
			put("- ", l.Text)
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "[cut: %d changed lines not shown]\n", left)
	}
	if b.Len() == 0 {
		return "no change\n"
	}
	return b.String()
}

// Bounded is the outline with so many bytes of its lines at most.
func (o *Outline) Bounded(size int) *Outline {
	for i, l := range o.Lines {
		if size -= l.size(); size < 0 {
			return &Outline{o.Lines[:i:i]}
		}
	}
	return o
}
