package metrics

import (
	"net/http"
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"holdfast/internal/guard"
	"holdfast/messages"
	"holdfast/transport"
)

// Sources are what gauges are read from. The functions are called on scrapes,
// from any goroutine, and must not wait.
type Sources struct {
	Tasks func() []*messages.Snapshot
	Link  *transport.Stats
	Shed  func() uint64
}

// Metrics are the series of one node. Safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	taskEnds     *prometheus.CounterVec
	opened       *prometheus.CounterVec
	closed       *prometheus.CounterVec
	wedges       *prometheus.CounterVec
	recoveries   *prometheus.CounterVec
	reconnects   *prometheus.CounterVec
	promotions   *prometheus.CounterVec
	gap          prometheus.Histogram
	starts       *prometheus.CounterVec
	exits        *prometheus.CounterVec
	deadLetters  prometheus.Counter
	duplicateIDs prometheus.Counter
	orphans      prometheus.Counter
	auth         *prometheus.CounterVec
}

// Label values, all present from the start.
var (
	dialogTypes = []string{"alert", "confirm", "prompt", "beforeunload", "other"}
	closers     = []messages.ClosedBy{
		messages.ClosedByAgent, messages.ClosedByAutoPolicy, messages.ClosedByWatchdog,
		messages.ClosedByRemote, messages.ClosedByLost,
	}
	actorKinds = []string{"registry", "supervisor", "browser", "session", "dialog", "frame", "anchor", "other"}
	exitKinds  = []guard.ReasonKind{guard.Normal, guard.Shutdown, guard.Failure, guard.Panic, guard.Abandoned}
	// The classes of routes that want a token, as the HTTP layer names them.
	routes = []string{"tasks", "task", "renew", "snapshot", "events", "dialog", "navigate", "cdp", "recover", "chaos", "unknown", "other"}
)

// New returns the metrics of a node.
func New(s Sources) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		m.registry.MustRegister(c)
		return c
	}
	vector := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	m.taskEnds = vector("holdfast_tasks_total", "Tasks that have ended, by outcome.", "outcome")
	m.opened = vector("holdfast_dialogs_opened_total", "JavaScript dialogs that have opened.", "type")
	m.closed = vector("holdfast_dialogs_closed_total", "JavaScript dialogs that have closed, by who ended them.", "closed_by")
	m.wedges = vector("holdfast_page_wedges_total", "Times a page came to be unable to answer, by cause.", "cause")
	m.recoveries = vector("holdfast_page_recoveries_total", "Recoveries of pages, asked for or by on_wedge, by what came of them.", "action", "result")
	m.reconnects = vector("holdfast_upstream_reconnects_total", "Attempts to bring back a lost primary link; of one that succeeded, why it was lost.", "result", "cause")
	m.promotions = vector("holdfast_anchor_promotions_total", "Dialogs whose answer had to go through the anchor: closed by it, or otherwise.", "result")
	m.gap = prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "holdfast_upstream_gap_seconds", Help: "Time a task was without events because of a lost link.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	})
	m.registry.MustRegister(m.gap)
	m.starts = vector("holdfast_actors_started_total", "Actors started, first and again.", "kind")
	m.exits = vector("holdfast_actors_exited_total", "Actors that have ended, by reason.", "kind", "reason")
	m.deadLetters = counter("holdfast_dead_letters_total", "Messages to actors that were gone. A few at the end of tasks are normal.")
	m.duplicateIDs = counter("holdfast_actor_duplicate_ids_total", "Actors started under an id that was taken: always a bug.")
	m.orphans = counter("holdfast_browser_orphans_reaped_total", "Browsers of an earlier node that were ended.")
	m.auth = vector("holdfast_auth_failures_total", "Requests refused for their token.", "route_class")

	for _, o := range []string{"stopped", "lost"} {
		m.taskEnds.WithLabelValues(o)
	}
	for _, t := range dialogTypes {
		m.opened.WithLabelValues(t)
	}
	for _, p := range []string{"answered", "failed"} {
		m.promotions.WithLabelValues(p)
	}
	for _, c := range []messages.ReconnectCause{messages.CauseClosed, messages.CauseHalfOpen} {
		m.reconnects.WithLabelValues("ok", string(c))
	}
	for _, c := range []messages.ReconnectCause{messages.CauseDial, messages.CauseAttach} {
		m.reconnects.WithLabelValues("failed", string(c))
	}
	for _, c := range closers {
		m.closed.WithLabelValues(string(c))
	}
	for _, c := range wedges {
		m.wedges.WithLabelValues(string(c))
	}
	for _, a := range messages.RecoverActions() {
		m.recoveries.WithLabelValues(string(a), messages.RecoveryOK)
		m.recoveries.WithLabelValues(string(a), messages.RecoveryFailed)
	}
	for _, k := range actorKinds {
		m.starts.WithLabelValues(k)
		for _, r := range exitKinds {
			m.exits.WithLabelValues(k, r.String())
		}
	}
	for _, r := range routes {
		m.auth.WithLabelValues(r)
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(), newCollector(s),
	)
	return m
}

// Handler serves the series in the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Gatherer gives the series to tests.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Observe counts a task's events. It does not block.
func (m *Metrics) Observe(events []messages.Event) {
	for _, e := range events {
		switch e.Type {
		case messages.EventDialogOpened:
			m.opened.WithLabelValues(oneOf(e.Dialog.Type, dialogTypes)).Inc()
		case messages.EventDialogClosed:
			m.closed.WithLabelValues(string(e.Closed.ClosedBy)).Inc()
			if e.Closed.Promoted {
				m.promotions.WithLabelValues(promotion(e.Closed.ClosedBy)).Inc()
			}
		case messages.EventPageChanged:
			if e.Was != "" && e.Page.PageState != messages.PageOK {
				m.wedges.WithLabelValues(string(e.Page.PageState)).Inc()
			}
		case messages.EventPageRecovery:
			m.recoveries.WithLabelValues(string(e.Recovery.Action), e.Recovery.Result).Inc()
		case messages.EventTaskState:
			if e.State == messages.StateLost || e.State == messages.StateStopped {
				m.taskEnds.WithLabelValues(string(e.State)).Inc()
			}
		case messages.EventConnection:
			if r := e.Reconnect; r != nil {
				m.reconnects.WithLabelValues(reconnect(r.OK), string(r.Cause)).Inc()
			}
			if e.Reason == messages.ReasonReconnected {
				m.gap.Observe(float64(e.Connection.LastGapMS) / 1000)
			}
		}
	}
}

func promotion(by messages.ClosedBy) string {
	if by == messages.ClosedByLost || by == messages.ClosedByRemote {
		return "failed"
	}
	return "answered"
}

func reconnect(ok bool) string {
	if ok {
		return "ok"
	}
	return "failed"
}

// ActorStarted implements guard.Observer.
func (m *Metrics) ActorStarted(kind string) { m.starts.WithLabelValues(oneOf(kind, actorKinds)).Inc() }

// ActorExited implements guard.Observer.
func (m *Metrics) ActorExited(kind string, r guard.Reason) {
	m.exits.WithLabelValues(oneOf(kind, actorKinds), r.Kind.String()).Inc()
}

// DeadLetter implements guard.Observer.
func (m *Metrics) DeadLetter() { m.deadLetters.Inc() }

// DuplicateID implements guard.Observer.
func (m *Metrics) DuplicateID() { m.duplicateIDs.Inc() }

// OrphansReaped counts browsers of an earlier node that were ended.
func (m *Metrics) OrphansReaped(n int) { m.orphans.Add(float64(n)) }

// AuthFailure counts a request that was refused for its token.
func (m *Metrics) AuthFailure(class string) { m.auth.WithLabelValues(oneOf(class, routes)).Inc() }

// oneOf keeps label values few: what is not in the list is "other".
func oneOf(s string, list []string) string {
	for _, l := range list {
		if l == s {
			return s
		}
	}
	return "other"
}

func buildInfo() prometheus.Collector {
	version, revision := "devel", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" && v != "(devel)" {
			version = v
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "holdfast_build_info", Help: "1, with what was built as labels."},
		[]string{"version", "revision", "goversion"})
	g.WithLabelValues(version, revision, runtime.Version()).Set(1)
	return g
}
