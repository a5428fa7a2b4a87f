package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"holdfast/messages"
)

func (h *Handler) livez(w http.ResponseWriter, c *call) error {
	h.reply(w, c, http.StatusOK, map[string]string{"status": "ok"})
	return nil
}

// readyz answers 503 whatever the reason's own status is: probes and load
// balancers know no other way to say "later". The route is open, so only a
// reason meant for callers is told.
func (h *Handler) readyz(w http.ResponseWriter, c *call) error {
	err := h.cfg.Node.Ready()
	if err == nil {
		h.reply(w, c, http.StatusOK, map[string]string{"status": "ok"})
		return nil
	}
	var own *messages.Error
	if !errors.As(err, &own) {
		own = messages.Errorf(messages.CodeUpstreamUnavailable, "not ready for new tasks")
	}
	return &refusal{http.StatusServiceUnavailable, own}
}

func (h *Handler) metrics(w http.ResponseWriter, c *call) error {
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
	h := &Handler{hosts: newHosts(allowHosts)}
	h.closing, h.close = context.WithCancel(context.Background())
	h.cfg.Metrics = metrics
	setDefault(&h.cfg.WriteTimeout, defaultWriteTimeout)
	setDefault(&h.cfg.BodyTimeout, defaultBodyTimeout)
	h.cfg.Logger, h.cfg.Observer = quiet, deaf{}
	h.mux = newMatcher([]route{metricsRoute})
	return h
}
