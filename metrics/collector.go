package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"holdfast/internal/shed"
	"holdfast/messages"
	"holdfast/transport"
)

// collector reads what others know, once per scrape.
type collector struct {
	sources Sources
	down    *downstream
	descs   map[*definition]*prometheus.Desc
}

// collected are the metrics it makes.
func collected() []*definition {
	return []*definition{
		tasks, taskLimit, queueLength, queueCapacity, memUsed, memLimit, draining,
		dialogsPending, dialogOldest, dialogUsed,
		pages, pageWedged, frames, oopifs, truncated,
		upstream, anchorOff, dialsWaiting, dialsShort, cdpMessages, cdpBytes, cdpInFlight, linkTotal,
		mailboxes, mailboxShed, browsers, browsersWarm, browserLimit, browserRSS, shedTotal,
	}
}

func newCollector(s Sources, down *downstream) *collector {
	if s.Link == nil {
		s.Link = &transport.Stats{}
	}
	c := &collector{s, down, map[*definition]*prometheus.Desc{}}
	for _, d := range append(collected(), clustered()...) {
		c.descs[d] = d.desc()
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
}

// scrape is one scrape under way.
type scrape struct {
	*collector
	out chan<- prometheus.Metric
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	s := scrape{c, ch}
	s.tasks()
	s.door()
	s.links()
	s.mailboxes()
	s.browsers()
	s.bounds()
	s.cluster()
}

func (s scrape) put(d *definition, v float64, labels ...string) {
	typ := prometheus.GaugeValue
	if d.typ == "counter" {
		typ = prometheus.CounterValue
	}
	s.out <- prometheus.MustNewConstMetric(s.descs[d], typ, v, labels...)
}

func (s scrape) tasks() {
	var t totals
	if s.sources.Tasks != nil {
		t = totalsOf(s.sources.Tasks(), messages.SecondsOf(time.Now()))
	}
	for _, state := range taskStateNames() {
		s.put(tasks, float64(t.states[messages.TaskState(state)]), state)
	}
	for _, w := range wedges {
		s.put(pageWedged, float64(t.causes[w]), string(w))
	}
	s.put(dialogsPending, float64(t.dialogs))
	s.put(dialogOldest, t.oldest)
	s.put(dialogUsed, t.used)
	s.put(pages, float64(t.pages))
	s.put(frames, float64(t.frames))
	s.put(oopifs, float64(t.oopifs))
	s.put(truncated, float64(t.truncated))
	s.put(upstream, float64(t.primaries), "primary")
	s.put(upstream, float64(t.anchors), "anchor")
	for _, why := range messages.AnchorOffs() {
		s.put(anchorOff, float64(t.off[why]), string(why))
	}
}

func (s scrape) door() {
	var p messages.Pressure
	if s.sources.Pressure != nil {
		p = s.sources.Pressure()
	}
	s.put(tasks, float64(p.Queued), "queued")
	s.put(queueLength, float64(p.Queued))
	s.put(queueCapacity, float64(p.Limits.QueueLength))
	s.put(taskLimit, float64(p.Limits.Tasks))
	s.put(browserLimit, float64(p.Limits.Browsers))
	s.put(memUsed, float64(p.Memory.UsedBytes))
	s.put(memLimit, float64(p.Memory.LimitBytes))
	leaving := 0.0
	if p.Draining {
		leaving = 1
	}
	s.put(draining, leaving)
}

func (s scrape) links() {
	l := s.sources.Link
	put := func(messages, bytes uint64, labels []string) {
		s.put(cdpMessages, float64(messages), labels...)
		s.put(cdpBytes, float64(bytes), labels...)
	}
	put(l.MessagesOut.Load(), l.BytesOut.Load(), cdpTraffic[0])
	put(l.RepliesIn.Load(), l.ReplyBytesIn.Load(), cdpTraffic[1])
	put(l.EventsIn.Load(), l.EventBytesIn.Load(), cdpTraffic[2])
	put(l.OthersIn.Load(), l.OtherBytesIn.Load(), cdpTraffic[3])
	for i, t := range []*traffic{&s.down.commands, &s.down.replies, &s.down.events} {
		put(t.messages.Load(), t.bytes.Load(), cdpTraffic[4+i])
	}
	s.put(cdpInFlight, float64(l.InFlight()), legUpstream)
	s.put(dialsWaiting, float64(l.DialsWaiting()))
	for _, of := range transport.Shortages() {
		s.put(dialsShort, float64(l.Short(of).Load()), string(of))
	}
	l.Each(func(name string, n uint64) { s.put(linkTotal, float64(n), name) })
}

func (s scrape) mailboxes() {
	waiting, dropped := map[string]int{}, map[string]uint64{}
	if s.sources.Mailboxes != nil {
		s.sources.Mailboxes(func(kind string, w int, d uint64) {
			kind = actorKinds.fold(kind)
			waiting[kind] = max(waiting[kind], w)
			dropped[kind] += d
		})
	}
	for _, kind := range actorKinds.values {
		s.put(mailboxes, float64(waiting[kind]), kind)
		s.put(mailboxShed, float64(dropped[kind]), kind)
	}
}

func (s scrape) browsers() {
	var (
		running int
		rss     uint64
	)
	if s.sources.Browsers != nil {
		running, rss = s.sources.Browsers()
	}
	s.put(browsers, float64(running))
	s.put(browserRSS, float64(rss))
	ready := 0
	if s.sources.Warm != nil {
		ready = s.sources.Warm()
	}
	s.put(browsersWarm, float64(ready))
}

func (s scrape) bounds() {
	l := s.sources.Link
	for _, b := range shed.All() {
		n := s.sources.Bounds.Load(b)
		switch b {
		case shed.CDPMessages:
			n += l.Oversized.Load()
		case shed.CDPCommands:
			n += l.CallsOverload.Load() + l.CallsLong.Load()
		case shed.SessionEvents:
			n += l.EventsShed.Load()
		case shed.Sessions:
			n += l.SessionsShed.Load()
		}
		s.put(shedTotal, float64(n), b.String())
	}
}
