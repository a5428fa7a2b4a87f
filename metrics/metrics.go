package metrics

import (
	"cmp"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"holdfast/internal/shed"
	"holdfast/internal/version"
	"holdfast/messages"
	"holdfast/transport"
)

// Sources are what is read when Prometheus asks. The functions are called on
// scrapes, from any goroutine, and must not wait. What is nil reads as nothing.
type Sources struct {
	Tasks  func() []*messages.Snapshot
	Link   *transport.Stats
	Bounds *shed.Counts
	// Pressure is how close the node is to its limits.
	Pressure func() messages.Pressure
	// Mailboxes says of each kind of actor how many messages wait in the longest
	// mailbox, and how many were dropped at full ones.
	Mailboxes func(each func(kind string, longest int, dropped uint64))
	// Browsers says how many launched browsers run, and their resident memory
	// in bytes.
	Browsers func() (running int, rss uint64)
	// Warm says how many of them are ready for tasks to come.
	Warm func() int
	// Cluster says how the node stands in its cluster, and false without one.
	Cluster func() (Cluster, bool)
}

// Metrics are the series of one node. Safe for concurrent use. Its methods
// neither wait nor, but for histograms that grow a bucket, allocate.
type Metrics struct {
	registry *prometheus.Registry // the node's own
	process  *prometheus.Registry // the process's
	bounds   *shed.Counts
	down     downstream

	taskEnds, opened, closed, fault, late     counters
	wedges, recoveries, resyncs               counters
	reconnects, promotions                    counters
	exits, restarts, gaveUp, letters, ids     counters
	rejected, browserEnds, orphans            counters
	requests, auth                            counters
	clientRejected, clientDropped             counters
	clientDecoded                             counters
	living, streams, clients                  gauges
	starts, waits, detect, answer, wedge, gap histograms
	took, clientStalled                       histograms
}

// New returns the metrics of a node.
func New(s Sources) *Metrics {
	r, process := prometheus.NewRegistry(), prometheus.NewRegistry()
	m := &Metrics{
		registry: r, process: process, bounds: s.Bounds,
		taskEnds: newCounters(r, tasksTotal), rejected: newCounters(r, rejected),
		starts: newHistograms(r, startSeconds), waits: newHistograms(r, queueWait),
		opened: newCounters(r, dialogsOpened), closed: newCounters(r, dialogsClosed), fault: newCounters(r, dialogsFault), late: newCounters(r, lateAnswers),
		detect: newHistograms(r, detectSeconds), answer: newHistograms(r, answerSeconds),
		wedges: newCounters(r, pageWedges), wedge: newHistograms(r, wedgeSeconds),
		recoveries: newCounters(r, recoveries), resyncs: newCounters(r, frameResyncs),
		reconnects: newCounters(r, reconnects), gap: newHistograms(r, gapSeconds), promotions: newCounters(r, promoted),
		requests: newCounters(r, httpRequests), took: newHistograms(r, httpSeconds),
		streams: newGauges(r, eventStreams), auth: newCounters(r, authFailures),
		clients: newGauges(r, clients), clientRejected: newCounters(r, clientRejections), clientStalled: newHistograms(r, clientStall), clientDropped: newCounters(r, clientDropped), clientDecoded: newCounters(r, clientDecoded),
		living: newGauges(r, actors), exits: newCounters(r, actorExits), restarts: newCounters(r, actorRestarts),
		gaveUp: newCounters(r, actorGaveUp), letters: newCounters(r, deadLetters), ids: newCounters(r, duplicateIDs),
		browserEnds: newCounters(r, browserEnds), orphans: newCounters(r, orphans),
	}
	process.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	r.MustRegister(build(), newCollector(s, &m.down), newCommands(s.Link))
	return m
}

// Handler serves the node's and the process's series in the format that is asked for:
// Prometheus' text, or protobuf, in which the native histograms are.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.Gatherer(), promhttp.HandlerOpts{})
}

// Gatherer gives the node's and the process's series to tests.
func (m *Metrics) Gatherer() prometheus.Gatherer {
	return prometheus.Gatherers{m.registry, m.process}
}

// Collector is the node's own series, for a registry that has the process's already.
func (m *Metrics) Collector() prometheus.Collector { return m.registry }

func build() prometheus.Collector {
	v := version.Read()
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: buildInfo.name, Help: buildInfo.help}, buildInfo.labelNames())
	g.WithLabelValues(v.Version, cmp.Or(v.Revision, "unknown"), v.Go).Set(1)
	return g
}
