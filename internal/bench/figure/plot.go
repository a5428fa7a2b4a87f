package figure

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Line is a row of points of a [Plot].
type Line struct {
	Name string
	X, Y []float64
}

// Plot draws lines over a logarithmic x axis.
type Plot struct {
	Title, XName, YName string
	// IsLogY draws y on a logarithmic axis too.
	IsLogY bool
	Lines  []Line
}

// The size of a plot in a picture, and what is around it.
const (
	plotWidth, plotHeight     = 640.0, 300.0
	left, right, above, below = 70.0, 20.0, 44.0, 48.0
)

var colours = []string{"#1f5fbf", "#c2410c", "#15803d", "#7e22ce", "#475569"}

// SVG writes plots one below the other.
func SVG(plots ...Plot) string {
	var b strings.Builder
	height := plotHeight * float64(len(plots))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="system-ui, sans-serif" font-size="12">`+"\n", plotWidth, height)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%.0f" fill="#ffffff"/>`+"\n", plotWidth, height)
	for i, p := range plots {
		fmt.Fprintf(&b, `<g transform="translate(0 %.0f)">`+"\n%s</g>\n", plotHeight*float64(i), p.draw())
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// scale maps values to a stretch of the picture.
type scale struct {
	isLog      bool
	lo, hi     float64 // of the values, or their logarithms
	begin, end float64 // of the picture
}

func (s scale) at(x float64) float64 {
	if s.isLog {
		x = math.Log10(x)
	}
	return s.begin + (x-s.lo)/(s.hi-s.lo)*(s.end-s.begin)
}

func (p Plot) draw() string {
	xs, ys := p.extent()
	x := scale{true, math.Log10(xs[0]), math.Log10(xs[1]), left, plotWidth - right}
	y := scale{false, 0, ys[1] * 1.1, plotHeight - below, above}
	if p.IsLogY {
		y.isLog, y.lo, y.hi = true, math.Floor(math.Log10(ys[0])), math.Ceil(math.Log10(ys[1]))
	}
	var b strings.Builder
	text := func(tx, ty float64, anchor, style, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", tx, ty, anchor, style, html.EscapeString(s))
	}
	text(left, 18, "start", ` font-weight="600"`, p.Title)
	text((left+plotWidth-right)/2, plotHeight-10, "middle", ` fill="#475569"`, p.XName)
	for _, v := range p.ticks(y) {
		fmt.Fprintf(&b, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#e2e8f0"/>`+"\n", left, plotWidth-right, y.at(v), y.at(v))
		text(left-8, y.at(v)+4, "end", ` fill="#475569"`, label(v))
	}
	if len(p.Lines) > 0 {
		for _, v := range p.Lines[0].X {
			text(x.at(v), plotHeight-below+18, "middle", ` fill="#475569"`, label(v))
		}
	}
	text(8, above-10, "start", ` fill="#475569"`, p.YName)
	for i, l := range p.Lines {
		colour := colours[i%len(colours)]
		var points []string
		for k := range l.X {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x.at(l.X[k]), y.at(l.Y[k])))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x.at(l.X[k]), y.at(l.Y[k]), colour)
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), colour)
		text(left+138*float64(i), above-10, "start", fmt.Sprintf(` fill="%s"`, colour), "— "+l.Name)
	}
	return b.String()
}

// label is a value on an axis.
func label(v float64) string { return strings.TrimSuffix(number(v), ".0") }

func (p Plot) extent() (x, y [2]float64) {
	x, y = [2]float64{math.Inf(1), math.Inf(-1)}, [2]float64{math.Inf(1), math.Inf(-1)}
	for _, l := range p.Lines {
		for i := range l.X {
			x[0], x[1] = math.Min(x[0], l.X[i]), math.Max(x[1], l.X[i])
			y[0], y[1] = math.Min(y[0], l.Y[i]), math.Max(y[1], l.Y[i])
		}
	}
	return x, y
}

func (p Plot) ticks(y scale) (values []float64) {
	if y.isLog {
		for e := y.lo; e <= y.hi; e++ {
			values = append(values, math.Pow(10, e))
		}
		return values
	}
	step := math.Pow(10, math.Floor(math.Log10(y.hi)))
	for y.hi/step < 4 {
		step /= 2
	}
	for v := 0.0; v <= y.hi; v += step {
		values = append(values, v)
	}
	return values
}
