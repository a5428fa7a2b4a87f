package node

import (
	"context"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"holdfast/internal/backend"
	"holdfast/internal/rawcdp"
	"holdfast/messages"
	"holdfast/transport"
)

// What spans say: which task, what kind of thing, and what came of it. Never a
// parameter, a result or a text of a page.
const (
	attrTask    = "holdfast.task"
	attrCode    = "holdfast.code" // ok, or an error's code of the contract
	attrSession = "holdfast.session_kind"
	attrRole    = "holdfast.link"
	attrAction  = "holdfast.action"
	attrDialog  = "holdfast.dialog"
	attrClosed  = "holdfast.closed_by"
	attrUntil   = "holdfast.wait_until"
)

// traces makes the node's spans. A node that is not traced has none (nil), and
// asks no more than that.
type traces struct {
	trace.Tracer
	starts sync.Map // messages.TaskID → *starting
}

// starting is a start with a waiting caller: the parent span of its steps.
type starting struct {
	parent trace.SpanContext

	mu     sync.Mutex // protects what follows
	attach trace.Span // since the link stands
	over   bool
}

func newTraces(p trace.TracerProvider) *traces {
	if p == nil {
		return nil
	}
	return &traces{Tracer: p.Tracer("holdfast")}
}

func (t *traces) begin(ctx context.Context, name string, id messages.TaskID, kind trace.SpanKind, attrs ...attribute.KeyValue) (context.Context, trace.Span) {
	return t.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(append(attrs, attribute.String(attrTask, string(id)))...))
}

// end ends a span with the outcome's code; an error's text is not told, since it
// may be a page's.
func end(s trace.Span, err error) {
	code := "ok"
	if err != nil {
		code = string(messages.CodeOf(err))
		s.SetStatus(codes.Error, code)
	}
	s.SetAttributes(attribute.String(attrCode, code))
	s.End()
}

// cdp is a raw command.
func (t *traces) cdp(ctx context.Context, n *Node, id messages.TaskID, r messages.CDPRequest) (messages.CDPResult, error) {
	kind := "page"
	switch {
	case r.FrameID != "":
		kind = "frame"
	case r.TargetID == "" && rawcdp.IsBrowserLevel(r.Method):
		kind = "browser"
	}
	ctx, s := t.begin(ctx, r.Method, id, trace.SpanKindClient, attribute.String(attrSession, kind))
	res, err := n.runCDP(ctx, id, r)
	end(s, err)
	return res, err
}

// start makes the span of a start, and has what it takes become its children.
func (t *traces) start(ctx context.Context, id messages.TaskID) (context.Context, func(error)) {
	ctx, s := t.begin(ctx, "start task", id, trace.SpanKindInternal)
	begun := &starting{parent: s.SpanContext()}
	_, others := t.starts.LoadOrStore(id, begun)
	return ctx, func(err error) {
		if !others { // else what it takes is told under the first who asked
			t.starts.CompareAndDelete(id, begun)
			begun.end(err)
		}
		end(s, err)
	}
}

func (s *starting) linked(span trace.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.attach != nil {
		span.End()
		return
	}
	s.attach = span
}

func (s *starting) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over = true; s.attach != nil {
		end(s.attach, err)
	}
}

// under returns ctx within the span of the start that a caller waits for, if there is one.
func (t *traces) under(ctx context.Context, id messages.TaskID) (context.Context, *starting) {
	s, ok := t.starts.Load(id)
	if !ok {
		return ctx, nil
	}
	begun := s.(*starting)
	return trace.ContextWithSpanContext(ctx, begun.parent), begun
}

// dial is dial with a span for each link of the task.
func (t *traces) dial(id messages.TaskID, dial backend.Dial) backend.Dial {
	return func(ctx context.Context, r messages.Role, at transport.Address, onClose func(error)) (*transport.Mux, error) {
		ctx, begun := t.under(ctx, id)
		role := attribute.String(attrRole, r.String())
		spanned, s := t.begin(ctx, "dial", id, trace.SpanKindClient, role)
		mux, err := dial(spanned, r, at, onClose)
		end(s, err)
		if err == nil && begun != nil && r == messages.RolePrimary {
			_, attach := t.begin(ctx, "attach", id, trace.SpanKindInternal)
			begun.linked(attach)
		}
		return mux, err
	}
}

// launch is launch with a span for each browser of the task.
func (t *traces) launch(id messages.TaskID, launch func(context.Context) (backend.Browser, error)) func(context.Context) (backend.Browser, error) {
	return func(ctx context.Context) (backend.Browser, error) {
		ctx, _ = t.under(ctx, id)
		ctx, s := t.begin(ctx, "launch", id, trace.SpanKindInternal)
		b, err := launch(ctx)
		end(s, err)
		return b, err
	}
}
