package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"holdfast/internal/logs"
)

// defaultQueue is how many spans wait for a collector, the SDK's own default:
// a few megabytes.
const defaultQueue = 2048

// Provider makes tracers whose spans are sent. Safe for concurrent use.
type Provider struct {
	*sdktrace.TracerProvider
	room    int64
	waiting atomic.Int64 // spans that have ended and were not sent yet
	dropped atomic.Pointer[func(spans int)]
}

// Start returns a provider that sends to where the standard variables say
// (OTEL_EXPORTER_OTLP_ENDPOINT and the others of the SDK, OTEL_TRACES_SAMPLER,
// OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_BSP_*). It does not wait for
// the collector, and sets the SDK's error handler, of which a process has one.
func Start(ctx context.Context, version string, log *slog.Logger) (*Provider, error) {
	log = logs.Guard(log)
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		log.Warn("traces are not sent", "err", err)
	}))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	res, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "holdfast"), attribute.String("service.version", version)),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, fmt.Errorf("tracing: resource: %w", err)
	}
	p := &Provider{room: queueSize(os.Getenv("OTEL_BSP_MAX_QUEUE_SIZE"))}
	// The SDK does not report spans that it drops for want of room, so it always has room.
	batches := sdktrace.NewBatchSpanProcessor(counting{exporter, p}, sdktrace.WithMaxQueueSize(int(p.room)+1))
	p.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithSpanProcessor(counted{batches, p}))
	return p, nil
}

// CountDropped has f called for spans that are lost: because too many wait, or
// because the collector did not take them. F must not block.
func (p *Provider) CountDropped(f func(spans int)) { p.dropped.Store(&f) }

func (p *Provider) drop(spans int) {
	if f := p.dropped.Load(); f != nil {
		(*f)(spans)
	}
}

// Shutdown sends what waits, as far as ctx allows.
func (p *Provider) Shutdown(ctx context.Context) error {
	if err := p.TracerProvider.Shutdown(ctx); err != nil {
		return fmt.Errorf("tracing: %d spans were not sent: %w", p.waiting.Load(), err)
	}
	return nil
}

func queueSize(given string) int64 {
	if n, err := strconv.ParseInt(given, 10, 32); err == nil && n > 0 {
		return n
	}
	return defaultQueue
}

// counted passes on the spans for which there is room.
type counted struct {
	sdktrace.SpanProcessor
	p *Provider
}

// OnEnd implements sdktrace.SpanProcessor.
func (c counted) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	if c.p.waiting.Add(1) > c.p.room {
		c.p.waiting.Add(-1)
		c.p.drop(1)
		return
	}
	c.SpanProcessor.OnEnd(s)
}

// counting tells how spans fared.
type counting struct {
	sdktrace.SpanExporter
	p *Provider
}

// ExportSpans implements sdktrace.SpanExporter.
func (c counting) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := c.SpanExporter.ExportSpans(ctx, spans)
	c.p.waiting.Add(-int64(len(spans)))
	if err != nil {
		c.p.drop(len(spans))
	}
	return err
}
