package metrics

import (
	"fmt"
	"strings"
)

//go:generate go test -run ^(TestSeriesAreThoseOfTheContract|TestTheDocumentationIsThatOfTheTable)$ -update

// Document returns doc, which is docs/metrics.md, with its tables made anew.
// A table stands between the marks of its group; the prose around them stays.
func Document(doc string) string {
	for _, group := range groups {
		begin, end := "<!-- "+group+" -->\n", "<!-- end -->"
		head, rest, ok := strings.Cut(doc, begin)
		_, tail, closed := strings.Cut(rest, end)
		if !ok || !closed {
			panic("metrics: the documentation has no place for " + group)
		}
		doc = head + begin + table(group) + end + tail
	}
	return doc
}

func table(group string) string {
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, d := range definitions {
		if d.group == group {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.name, d.typ, d.describeLabels(), d.help)
		}
	}
	return b.String()
}

func (d *definition) describeLabels() string {
	if len(d.labels) == 0 {
		return "–"
	}
	var parts []string
	for _, l := range d.labels {
		part := "`" + l.name + "`"
		if l.values != nil {
			part += ": " + strings.Join(l.values, ", ")
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}
