// Package etcdlog carries what etcd logs to the node's own log.
package etcdlog

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// New returns a logger for etcd that writes warnings and errors to log; what etcd calls
// information is written at debug level, since it is of no use to those who run nodes.
func New(log *slog.Logger) *zap.Logger {
	if log == nil {
		return zap.NewNop()
	}
	return zap.New(&core{log: log})
}

// core is a zapcore.Core over a slog.Logger.
type core struct {
	log    *slog.Logger
	fields []zapcore.Field
}

// Enabled says whether a line of that level would be written.
func (c *core) Enabled(l zapcore.Level) bool { return c.log.Enabled(context.Background(), level(l)) }

// With returns a core that adds fields to every line.
func (c *core) With(fields []zapcore.Field) zapcore.Core {
	return &core{log: c.log, fields: append(c.fields[:len(c.fields):len(c.fields)], fields...)}
}

// Check adds the core to those that write an entry.
func (c *core) Check(e zapcore.Entry, to *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return to.AddCore(e, c)
	}
	return to
}

// Write writes a line. etcd's fields stand in one attribute: their names are not ours.
func (c *core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	m := zapcore.NewMapObjectEncoder()
	for _, f := range c.fields {
		f.AddTo(m)
	}
	for _, f := range fields {
		f.AddTo(m)
	}
	c.log.Log(context.Background(), level(e.Level), "etcd: "+e.Message, "etcd", m.Fields)
	return nil
}

// Sync does nothing: slog has no buffer.
func (*core) Sync() error { return nil }

func level(l zapcore.Level) slog.Level {
	switch {
	case l >= zapcore.ErrorLevel:
		return slog.LevelError
	case l == zapcore.WarnLevel:
		return slog.LevelWarn
	}
	return slog.LevelDebug
}
