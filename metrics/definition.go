package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// definition is one line of the table.
type definition struct {
	group, name, typ, help string
	labels                 []label
	buckets                []float64  // of a histogram's classic form
	sets                   [][]string // of label values, where not every combination can be
	late                   [][]string // those that come to be with the first count
}

// label is a label with all its values; nil stands for the build's.
type label struct {
	name   string
	values []string
}

// fold returns v, or other where the list does not have it.
func (l label) fold(v string) string {
	if slices.Contains(l.values, v) {
		return v
	}
	return other
}

// definitions is the table, in the order of the documentation.
var definitions []*definition

func define(d definition) *definition {
	definitions = append(definitions, &d)
	return &d
}

func gauge(group, name, help string, labels ...label) *definition {
	return define(definition{group: group, name: name, typ: "gauge", help: help, labels: labels})
}

func counter(group, name, help string, labels ...label) *definition {
	return define(definition{group: group, name: name, typ: "counter", help: help, labels: labels})
}

func histogram(group, name, help string, buckets []float64, labels ...label) *definition {
	return define(definition{group: group, name: name, typ: "histogram", help: help, buckets: buckets, labels: labels})
}

// only names the combinations of values that there can be.
func (d *definition) only(sets ...[]string) *definition {
	d.sets = sets
	return d
}

// unless leaves out those sets until something counts: an idle node has few series.
func (d *definition) unless(late func(set []string) bool) *definition {
	for _, set := range d.combinations() {
		if late(set) {
			d.late = append(d.late, set)
		}
	}
	d.sets = slices.DeleteFunc(d.combinations(), late)
	return d
}

// combinations are all sets of label values, one for each series.
func (d *definition) combinations() [][]string {
	if d.sets != nil {
		return d.sets
	}
	all := [][]string{nil}
	for _, l := range d.labels {
		var longer [][]string
		for _, set := range all {
			for _, v := range l.values {
				longer = append(longer, append(slices.Clip(set), v))
			}
		}
		all = longer
	}
	return all
}

func (d *definition) labelNames() []string {
	names := make([]string, len(d.labels))
	for i, l := range d.labels {
		names[i] = l.name
	}
	return names
}

func (d *definition) desc() *prometheus.Desc {
	return prometheus.NewDesc(d.name, d.help, d.labelNames(), nil)
}

// maxLabels is how many labels a metric has at most.
const maxLabels = 3

// key is a set of label values, the rest of it empty.
type key [maxLabels]string

func keyOf(values []string) (k key) {
	copy(k[:], values)
	return k
}

// series are the metrics of one definition, made once: finding one takes no
// lock and allocates nothing.
type series[M any] struct {
	def     *definition
	by      map[key]M
	resolve func(...string) M
}

func newSeries[M any](d *definition, resolve func(...string) M) series[M] {
	s := series[M]{d, map[key]M{}, resolve}
	for _, set := range d.combinations() {
		s.by[keyOf(set)] = resolve(set...)
	}
	return s
}

// at returns the metric with these label values; one that its list does not
// have counts as other, and ok is false where there is no such thing.
func (s *series[M]) at(k key) (m M, ok bool) {
	if m, ok = s.by[k]; ok {
		return m, true
	}
	for i, l := range s.def.labels {
		k[i] = l.fold(k[i])
	}
	for _, set := range s.def.late {
		if keyOf(set) == k {
			return s.resolve(set...), true
		}
	}
	m, ok = s.by[k]
	return m, ok
}

type counters struct{ series[prometheus.Counter] }

func newCounters(r prometheus.Registerer, d *definition) counters {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.name, Help: d.help}, d.labelNames())
	r.MustRegister(v)
	return counters{newSeries(d, func(set ...string) prometheus.Counter { return v.WithLabelValues(set...) })}
}

func (c *counters) inc(values ...string) {
	if m, ok := c.at(keyOf(values)); ok {
		m.Inc()
	}
}

func (c *counters) add(n int, values ...string) {
	if m, ok := c.at(keyOf(values)); ok {
		m.Add(float64(n))
	}
}

type gauges struct{ series[prometheus.Gauge] }

func newGauges(r prometheus.Registerer, d *definition) gauges {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: d.name, Help: d.help}, d.labelNames())
	r.MustRegister(v)
	return gauges{newSeries(d, func(set ...string) prometheus.Gauge { return v.WithLabelValues(set...) })}
}

func (g *gauges) add(n float64, values ...string) {
	if m, ok := g.at(keyOf(values)); ok {
		m.Add(n)
	}
}

// How fine a native histogram is, and how large it may grow: a scrape of an old
// node should not be long, and 160 buckets span six orders of magnitude.
const (
	nativeFactor  = 1.1
	nativeBuckets = 160
)

type histograms struct{ series[prometheus.Observer] }

func newHistograms(r prometheus.Registerer, d *definition) histograms {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: d.name, Help: d.help, Buckets: d.buckets,
		NativeHistogramBucketFactor: nativeFactor, NativeHistogramMaxBucketNumber: nativeBuckets,
	}, d.labelNames())
	r.MustRegister(v)
	return histograms{newSeries(d, v.WithLabelValues)}
}

func (h *histograms) observe(seconds float64, values ...string) {
	if m, ok := h.at(keyOf(values)); ok {
		m.Observe(seconds)
	}
}
