package main

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"holdfast/internal/node"
	"holdfast/internal/shed"
	"holdfast/internal/tracing"
)

// flushTime is how long the end of the node waits for a collector to take the
// last spans. They are worth no more.
const flushTime = 2 * time.Second

// tracer is what a node's spans are sent by, if at all.
type tracer struct{ *tracing.Provider }

// provider is nil without tracing: a nil *tracing.Provider in an interface would not be
// nil.
func (t *tracer) provider() trace.TracerProvider {
	if t.Provider == nil {
		return nil
	}
	return t.Provider
}

func (t *tracer) count(node *node.Node) {
	if t.Provider == nil {
		return
	}
	t.CountDropped(func(spans int) {
		for range spans {
			node.Metrics().Cut(shed.Spans)
		}
	})
}

func (t *tracer) flush(ctx context.Context, log *slog.Logger) {
	if t.Provider == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	if err := t.Shutdown(ctx); err != nil {
		log.Warn("the last traces were not sent", "err", err)
	}
}
