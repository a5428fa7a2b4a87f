package api

import (
	"log/slog"
	"net"
	"time"

	"holdfast/messages"
)

// audit writes who did what to a task (requirement X20): never what was typed,
// sent or answered. It is information where the operator has asked for it, and
// else for those who look closely.
func (h *Handler) audit(c *call, start time.Time, err error, what string, attrs ...slog.Attr) {
	level := slog.LevelDebug
	if h.cfg.Audit {
		level = slog.LevelInfo
	}
	if !h.cfg.Logger.Enabled(c.Context(), level) {
		return
	}
	code := string(messages.CodeOf(err))
	if err == nil {
		code = "ok"
	}
	line := []slog.Attr{
		slog.String("audit", what), slog.String("task", string(c.id)), slog.String("who", c.scope.String()), slog.String("from", c.from()),
		slog.String("code", code), slog.Float64("took_ms", float64(time.Since(start).Microseconds())/1000),
	}
	h.cfg.Logger.LogAttrs(c.Context(), level, "audit", append(line, attrs...)...)
}

// denied notes that a request's token is missing, wrong or not good for what was
// asked. Of many the log has one a minute.
func (h *Handler) denied(c *call) {
	h.cfg.Observer.AuthFailed(c.route.class)
	h.cfg.Logger.LogAttrs(c.Context(), slog.LevelWarn, "a request was refused for its token", slog.String("route", c.route.path), slog.String("from", c.from()))
}

// from is the caller's address, without the port.
func (c *call) from() string {
	host, _, _ := net.SplitHostPort(c.RemoteAddr)
	return host
}
