package figure_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"holdfast/internal/bench/figure"
)

func TestAPlotIsAPictureWithAllItsPoints(t *testing.T) {
	t.Parallel()
	line := figure.Line{Name: "RSS <growth>", X: []float64{10, 100, 1000}, Y: []float64{50, 40, 30}}
	svg := figure.SVG(
		figure.Plot{Title: "Cost & more", XName: "tasks", YName: "KiB", Lines: []figure.Line{line, line}},
		figure.Plot{Title: "Latency", IsLogY: true, Lines: []figure.Line{line}},
	)
	d := xml.NewDecoder(strings.NewReader(svg))
	counts := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			counts[e.Name.Local]++
		}
	}
	if counts["circle"] != 9 || counts["polyline"] != 3 || strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
		t.Errorf("%v in\n%s", counts, svg)
	}
}
