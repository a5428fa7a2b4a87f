package api

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traced makes the span of a call that has passed the gate; what the node does
// for it becomes its children. Strangers make none, and cannot have any made. A
// stream has none either: it may last for days.
func (h *Handler) traced(out *response, c *call) (end func()) {
	if c.route.access == open || c.route.isStream {
		return func() {}
	}
	ctx := propagation.TraceContext{}.Extract(c.Context(), propagation.HeaderCarrier(c.Header))
	ctx, span := h.tracer.Start(ctx, c.route.pattern(), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		attribute.String("http.request.method", c.Method), attribute.String("http.route", c.route.path),
		attribute.String("holdfast.task", string(c.id)),
	))
	c.Request = c.WithContext(ctx)
	return func() {
		span.SetAttributes(attribute.Int("http.response.status_code", out.status))
		if out.status >= 500 || out.status == 0 {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}
