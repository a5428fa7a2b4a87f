package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"holdfast/internal/gate"
	"holdfast/messages"
)

// pingTime is how long the node may take to give a sign of life. Probes come with
// deadlines of a second and more.
const pingTime = 900 * time.Millisecond

// livez answers 503 when the node's own actors do not come to an answer: what
// helps is a restart. Nothing that a page or a browser does shows here.
func (h *Handler) livez(w http.ResponseWriter, c *call) error {
	return h.health(w, c, "not alive", h.pulse(c))
}

// readyz answers 503 when a task that is asked for now would be refused.
func (h *Handler) readyz(w http.ResponseWriter, c *call) error {
	checks := append([]messages.Check{h.pulse(c)}, h.cfg.Node.Checks()...)
	if h.cfg.Cluster != nil {
		checks = append(checks, h.cfg.Cluster.Check())
	}
	return h.health(w, c, "not ready for new tasks", checks...)
}

// pulse is the check of the node's registry. The routes are open, so the answer has no
// cause: the node's log has it.
func (h *Handler) pulse(c *call) messages.Check {
	ctx, cancel := context.WithTimeout(c.Context(), pingTime)
	defer cancel()
	check := messages.Check{Name: "registry", OK: true}
	if h.cfg.Node.Alive(ctx) != nil {
		check.OK, check.Reason = false, "no sign of life"
	}
	return check
}

// health answers 503 whatever the reason's own status is: probes and load
// balancers know no other way to say "later".
func (h *Handler) health(w http.ResponseWriter, c *call, what string, checks ...messages.Check) error {
	for _, check := range checks {
		if !check.OK && !check.Advisory {
			err := messages.Errorf(messages.CodeUpstreamUnavailable, "%s: %s: %s", what, check.Name, check.Reason)
			return &refusal{http.StatusServiceUnavailable, err.With("checks", checks)}
		}
	}
	h.reply(w, c, http.StatusOK, messages.Health{Status: "ok", Checks: checks})
	return nil
}

// pressure is for schedulers that decide where the next task goes; it names no task.
func (h *Handler) pressure(w http.ResponseWriter, c *call) error {
	p := h.cfg.Node.Pressure()
	p.Node = h.nodeName()
	p.Others, p.Missing = gather[messages.Pressure](h, c)
	slices.SortFunc(p.Others, func(a, b messages.Pressure) int { return cmp.Compare(a.Node, b.Node) })
	h.reply(w, c, http.StatusOK, p)
	return nil
}

func (h *Handler) metrics(w http.ResponseWriter, c *call) error {
	if gate.IsCrossSite(c.Request) {
		return messages.Errorf(messages.CodeForbidden, "requests of other sites' pages are refused")
	}
	protect(w)
	serveMetrics(w, c.Request, h.cfg.Metrics, h.cfg.WriteTimeout)
	return nil
}

func serveMetrics(w http.ResponseWriter, r *http.Request, metrics http.Handler, limit time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(limit))
	metrics.ServeHTTP(w, r)
}

// MetricsHandler serves metrics on /metrics of a listener of their own. It
// wants no token, but the same Host and Origin checks as every other route.
func MetricsHandler(metrics http.Handler, allowHosts []string) http.Handler {
	h := &Handler{}
	h.cfg.Gate = gate.WithoutToken(allowHosts)
	h.cfg.Metrics = metrics
	setDefault(&h.cfg.WriteTimeout, defaultWriteTimeout)
	setDefault(&h.cfg.BodyTimeout, defaultBodyTimeout)
	h.cfg.Logger, h.cfg.Observer = quiet, deaf{}
	h.mux = newMatcher([]route{metricsRoute})
	return h
}
