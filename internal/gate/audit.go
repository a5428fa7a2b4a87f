package gate

import (
	"context"
	"log/slog"
	"time"

	"holdfast/messages"
)

// Audit writes what the caller did to a task, and how it ended (requirement X20): never what
// was typed, sent or answered. It is information where the operator has asked for it, and
// else for those who look closely.
func (c Caller) Audit(ctx context.Context, what string, id messages.TaskID, start time.Time, err error, attrs ...slog.Attr) {
	level := slog.LevelDebug
	if c.gate.cfg.IsAudited {
		level = slog.LevelInfo
	}
	if !c.gate.cfg.Logger.Enabled(ctx, level) {
		return
	}
	code := string(messages.CodeOf(err))
	if err == nil {
		code = "ok"
	}
	line := []slog.Attr{
		slog.String("audit", what), slog.String("task", string(id)), slog.String("who", c.scope.String()), slog.String("from", c.from),
		slog.String("code", code), slog.Float64("took_ms", float64(time.Since(start).Microseconds())/1000),
	}
	c.gate.cfg.Logger.LogAttrs(ctx, level, "audit", append(line, attrs...)...)
}
