package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"holdfast/messages"
)

// collector reads gauges from the snapshots, once per scrape.
type collector struct {
	sources Sources

	tasks, dialogs, oldest, pages, wedged, frames, oopifs, upstream, anchorOff, link, shed *prometheus.Desc
}

func newCollector(s Sources) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &collector{
		sources:   s,
		tasks:     desc("holdfast_tasks", "Tasks of the node, by state.", "state"),
		dialogs:   desc("holdfast_dialogs_pending", "Dialogs that wait for an answer."),
		oldest:    desc("holdfast_dialog_oldest_age_seconds", "Age of the oldest dialog that waits for an answer; 0 without one."),
		pages:     desc("holdfast_pages", "Pages of all tasks."),
		wedged:    desc("holdfast_page_wedged", "Pages that cannot answer, by cause.", "cause"),
		frames:    desc("holdfast_frames", "Frames of the tasks' current pages."),
		oopifs:    desc("holdfast_oopif_sessions", "Out-of-process iframes attached on the tasks' current pages."),
		upstream:  desc("holdfast_upstream_connections", "Links to browsers that are up.", "role"),
		anchorOff: desc("holdfast_anchor_off", "Tasks that have no anchor, by reason.", "reason"),
		link:      desc("holdfast_link_events_total", "What the links to browsers did.", "what"),
		shed:      desc("holdfast_console_errors_shed_total", "Console errors dropped in a storm."),
	}
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.tasks, c.dialogs, c.oldest, c.pages, c.wedged, c.frames, c.oopifs, c.upstream, c.anchorOff, c.link, c.shed} {
		ch <- d
	}
}

var wedges = []messages.PageState{
	messages.PageDialog, messages.PageDialogUnreachable, messages.PageCrashed, messages.PageHung, messages.PagePaused,
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	var (
		states                        = map[messages.TaskState]int{}
		causes                        = map[messages.PageState]int{}
		dialogs, pages, frames, oopif int
		up, anchors                   int
		off                           = map[messages.AnchorOff]int{}
		oldest                        messages.Seconds
	)
	for _, t := range c.sources.Tasks() {
		states[t.State]++
		pages += len(t.Pages)
		for _, p := range t.Pages {
			causes[p.PageState]++
		}
		dialogs += len(t.PendingDialogs)
		for _, d := range t.PendingDialogs {
			if oldest == 0 || d.OpenedAt < oldest {
				oldest = d.OpenedAt
			}
		}
		if t.Connection.Primary == messages.LinkUp {
			up++
		}
		if t.Connection.Anchor == messages.LinkUp {
			anchors++
		}
		if t.Active {
			off[t.Connection.AnchorOff]++
		}
		if t.FrameTree != nil {
			frames += 1 + len(t.FrameTree.Children)
			for _, f := range t.FrameTree.Children {
				if f.SessionID != "" {
					oopif++
				}
			}
		}
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	for _, s := range messages.TaskStates() {
		gauge(c.tasks, float64(states[s]), string(s))
	}
	for _, p := range wedges {
		gauge(c.wedged, float64(causes[p]), string(p))
	}
	age := 0.0
	if oldest > 0 {
		age = max(0, float64(messages.SecondsOf(time.Now())-oldest))
	}
	gauge(c.dialogs, float64(dialogs))
	gauge(c.oldest, age)
	gauge(c.pages, float64(pages))
	gauge(c.frames, float64(frames))
	gauge(c.oopifs, float64(oopif))
	gauge(c.upstream, float64(up), "primary")
	gauge(c.upstream, float64(anchors), "anchor")
	for _, why := range messages.AnchorOffs() {
		gauge(c.anchorOff, float64(off[why]), string(why))
	}
	c.sources.Link.Each(func(name string, value uint64) {
		ch <- prometheus.MustNewConstMetric(c.link, prometheus.CounterValue, float64(value), name)
	})
	ch <- prometheus.MustNewConstMetric(c.shed, prometheus.CounterValue, float64(c.sources.Shed()))
}
