package metrics

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"holdfast/transport"
)

// commands makes the histogram of commands from what the links have counted.
// The client library's own histogram would take a lock for each command.
type commands struct {
	links *transport.Stats
	desc  *prometheus.Desc
}

func newCommands(links *transport.Stats) *commands {
	if links == nil {
		links = &transport.Stats{}
	}
	return &commands{links, cdpSeconds.desc()}
}

// Describe implements prometheus.Collector.
func (c *commands) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

// Collect implements prometheus.Collector.
func (c *commands) Collect(ch chan<- prometheus.Metric) {
	c.links.Commands.Each(func(d transport.Durations) { ch <- command{c.desc, d} })
}

// command is the histogram of one kind of command.
type command struct {
	desc *prometheus.Desc
	d    transport.Durations
}

// Desc implements prometheus.Metric.
func (c command) Desc() *prometheus.Desc { return c.desc }

// Write implements prometheus.Metric. It gives both forms at once, as those of
// the client library do.
func (c command) Write(out *dto.Metric) error {
	out.Label = []*dto.LabelPair{
		{Name: new("domain"), Value: new(c.d.Domain)},
		{Name: new("result"), Value: new(okOr(!c.d.HasFailed))},
	}
	h := &dto.Histogram{
		SampleCount: new(c.d.Count), SampleSum: new(c.d.Sum.Seconds()),
		Schema: new(int32(transport.DurationSchema)), ZeroThreshold: new(transport.ZeroBelow.Seconds()), ZeroCount: new(c.d.Zero),
	}
	for i, bound := range transport.CommandBounds {
		h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: new(bound), CumulativeCount: new(c.d.Within[i])})
	}
	h.PositiveSpan, h.PositiveDelta = spans(c.d.Native)
	out.Histogram = h
	return nil
}

// spans writes buckets down as the format wants them: runs of neighbours, each
// with its distance from the run before, and every count as the difference from
// the one before it.
func spans(buckets map[int]uint64) (runs []*dto.BucketSpan, deltas []int64) {
	next, last := 0, int64(0)
	for _, i := range slices.Sorted(maps.Keys(buckets)) {
		if len(runs) == 0 || i != next {
			runs = append(runs, &dto.BucketSpan{Offset: new(int32(i - next)), Length: new(uint32(0))})
		}
		*runs[len(runs)-1].Length++
		n := int64(buckets[i])
		deltas = append(deltas, n-last)
		last, next = n, i+1
	}
	return runs, deltas
}
