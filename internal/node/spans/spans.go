// Package spans makes the spans of a node's calls, and of what a start takes: OpenTelemetry's
// interface alone, without an SDK.
package spans

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"holdfast/internal/backend"
	"holdfast/messages"
	"holdfast/transport"
)

// What spans say: which task, what kind of thing, and what came of it. Never a
// parameter, a result or a text of a page.
const (
	AttrTask    = "holdfast.task"
	AttrCode    = "holdfast.code" // ok, or an error's code of the contract
	AttrSession = "holdfast.session_kind"
	AttrRole    = "holdfast.link"
	AttrAction  = "holdfast.action"
	AttrDialog  = "holdfast.dialog"
	AttrClosed  = "holdfast.closed_by"
	AttrUntil   = "holdfast.wait_until"
)

// Tracer makes the node's spans. A node that is not traced has none (nil), and
// asks no more than that. It is safe for concurrent use.
type Tracer struct {
	tracer trace.Tracer
	starts sync.Map // messages.TaskID → *starting
}

// starting is a start with a waiting caller: the parent span of its steps.
type starting struct {
	parent trace.SpanContext

	mu     sync.Mutex // protects what follows
	attach trace.Span // since the link stands
	isOver bool
}

// New returns a tracer of the provider; nil has none.
func New(p trace.TracerProvider) *Tracer {
	if p == nil {
		return nil
	}
	return &Tracer{tracer: p.Tracer("holdfast")}
}

// Begin begins a span of a call on the task; [End] ends it.
func (t *Tracer) Begin(ctx context.Context, name string, id messages.TaskID, kind trace.SpanKind, attrs ...attribute.KeyValue) (context.Context, trace.Span) {
	return t.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(append(attrs, attribute.String(AttrTask, string(id)))...))
}

// End ends a span with the outcome's code; an error's text is not told, since it
// may be a page's.
func End(s trace.Span, err error) {
	code := "ok"
	if err != nil {
		code = string(messages.CodeOf(err))
		s.SetStatus(codes.Error, code)
	}
	s.SetAttributes(attribute.String(AttrCode, code))
	s.End()
}

// StartTask makes the span of a start, and has what it takes become its children. Call the
// function it returns with the start's outcome.
func (t *Tracer) StartTask(ctx context.Context, id messages.TaskID) (context.Context, func(error)) {
	ctx, s := t.Begin(ctx, "start task", id, trace.SpanKindInternal)
	begun := &starting{parent: s.SpanContext()}
	_, others := t.starts.LoadOrStore(id, begun)
	return ctx, func(err error) {
		if !others { // else what it takes is told under the first who asked
			t.starts.CompareAndDelete(id, begun)
			begun.end(err)
		}
		End(s, err)
	}
}

func (s *starting) linked(span trace.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOver || s.attach != nil {
		span.End()
		return
	}
	s.attach = span
}

func (s *starting) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOver = true; s.attach != nil {
		End(s.attach, err)
	}
}

// under returns ctx within the span of the start that a caller waits for, if there is one.
func (t *Tracer) under(ctx context.Context, id messages.TaskID) (context.Context, *starting) {
	s, ok := t.starts.Load(id)
	if !ok {
		return ctx, nil
	}
	begun := s.(*starting)
	return trace.ContextWithSpanContext(ctx, begun.parent), begun
}

// Dial returns dial with a span for each link of the task.
func (t *Tracer) Dial(id messages.TaskID, dial backend.Dial) backend.Dial {
	return func(ctx context.Context, r messages.Role, at transport.Address, onClose func(error)) (*transport.Mux, error) {
		ctx, begun := t.under(ctx, id)
		role := attribute.String(AttrRole, r.String())
		spanned, s := t.Begin(ctx, "dial", id, trace.SpanKindClient, role)
		mux, err := dial(spanned, r, at, onClose)
		End(s, err)
		if err == nil && begun != nil && r == messages.RolePrimary {
			_, attach := t.Begin(ctx, "attach", id, trace.SpanKindInternal)
			begun.linked(attach)
		}
		return mux, err
	}
}

// Launch returns launch with a span for each browser of the task.
func (t *Tracer) Launch(id messages.TaskID, launch func(context.Context) (backend.Browser, error)) func(context.Context) (backend.Browser, error) {
	return func(ctx context.Context) (backend.Browser, error) {
		ctx, _ = t.under(ctx, id)
		ctx, s := t.Begin(ctx, "launch", id, trace.SpanKindInternal)
		b, err := launch(ctx)
		End(s, err)
		return b, err
	}
}
