package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/trace"

	"holdfast/internal/gate"
	"holdfast/internal/redact"
	"holdfast/internal/shed"
	"holdfast/messages"
)

// Handler serves the contract's routes. It is safe for concurrent use.
type Handler struct {
	cfg     Config
	mux     *http.ServeMux
	calls   calls
	bodies  *gate.Shares // bytes of large bodies
	started time.Time
	tracer  trace.Tracer // nil without tracing
}

// call is one request that has passed the gate.
type call struct {
	*http.Request
	handler *Handler
	route   *route
	caller  gate.Caller
	id      messages.TaskID // where the route names a task
	query   url.Values
	ctl     *http.ResponseController
	// isUnasked says that the caller has not been asked who it is, since its ticket is another
	// node's to look at.
	isUnasked bool
	// wasElsewhere says that another node had the task when the call was looked at.
	wasElsewhere bool
	// kept is the body of a request that may go to more than one node; nil where it is not kept.
	kept []byte
	// isTooLarge says that the body was.
	isTooLarge bool
	// release gives back what the body has taken of the common bound; nil for small ones.
	release func()
}

// New returns a handler for the node.
func New(cfg Config) (*Handler, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	h := &Handler{
		cfg:     cfg,
		bodies:  gate.NewShares(gate.Bounds{All: maxBodyBytes, Admin: adminBodyBytes, Tenant: tenantBodies, Task: taskBodies}),
		started: time.Now(),
	}
	if cfg.TracerProvider != nil {
		h.tracer = cfg.TracerProvider.Tracer("holdfast/internal/api")
	}
	h.calls.ended = make(chan struct{}, 1)
	all := slices.Clone(routes)
	if !cfg.HasNoUI {
		all = append(all, uiRoutes()...)
	}
	if cfg.Metrics != nil {
		all = append(all, metricsRoute)
	}
	h.mux = newMatcher(all)
	return h, nil
}

// CloseStreams ends every event stream and every one that is asked for
// later. It may be called more than once.
func (h *Handler) CloseStreams() { h.cfg.Gate.CloseStreams() }

// ServeHTTP is the gate: whatever the node answers over HTTP comes through
// here.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	c := &call{Request: r, handler: h, route: &unknown, ctl: http.NewResponseController(w)}
	out := &response{ResponseWriter: w}
	defer func() {
		// The path is the caller's text and the query may hold a token: the
		// log has the route and, where there is one, the task.
		h.cfg.Logger.LogAttrs(r.Context(), slog.LevelDebug, "request",
			slog.String("method", r.Method), slog.String("route", c.route.path), slog.String("task", string(c.id)),
			slog.Int("status", out.status), slog.Int64("bytes", out.bytes), slog.Float64("took_ms", float64(time.Since(start).Microseconds())/1000))
	}()
	defer func() {
		if c.isTooLarge {
			h.cfg.Observer.Cut(shed.HTTPBodies)
		}
		status, isCut := out.status, out.isCut
		if hasHungUp(out, c) {
			status, isCut = messages.StatusGone, false
		}
		h.cfg.Observer.Request(c.route.class, status, isCut, time.Since(start))
	}()
	defer func() {
		if p := recover(); p != nil {
			h.panicked(out, c, p)
		}
	}()
	if h.calls.draining.Load() {
		w.Header().Set("Connection", "close")
	}
	if err := h.pass(out, c); err != nil {
		h.fail(out, c, err)
		return
	}
	if !c.route.isStream {
		counted := h.calls.begin()
		defer h.calls.end(counted)
	}
	if h.tracer != nil {
		defer h.traced(out, c)()
	}
	defer func() {
		if c.release != nil {
			c.release()
		}
	}()
	serve := (*Handler).serveHere
	if node := h.elsewhere(c); node != "" {
		serve = func(h *Handler, w http.ResponseWriter, c *call) error { return h.forwardOrServe(w, c, node) }
	}
	if err := serve(h, out, c); err != nil {
		h.fail(out, c, err)
	}
	// A call that waited for long has used the task all the while.
	if c.doesRenew() && time.Since(start) > time.Second {
		_ = h.cfg.Node.Renew(c.id)
	}
}

// pass decides whether the request may be served: Host, Origin, token, route,
// scope, in this order, so that a stranger learns nothing about routes and a
// scoped token nothing about tasks that are not its own.
func (h *Handler) pass(w http.ResponseWriter, c *call) error {
	if c.ContentLength != 0 {
		// A body has to arrive in time, whether a handler reads it or not.
		_ = c.ctl.SetReadDeadline(time.Now().Add(h.cfg.BodyTimeout))
	}
	// The node that has let the request in has looked at its Host and Origin.
	if !c.isHop() {
		if err := h.cfg.Gate.CheckHost(c.Request); err != nil {
			return err
		}
	}
	var queryErr error
	c.query, queryErr = url.ParseQuery(c.URL.RawQuery)
	found := match(h.mux, c.Request)
	if found.route != nil {
		c.route = found.route
	}
	if err := c.checkHop(); err != nil {
		return err
	}
	if c.isUnasked = h.isForOther(c); c.isUnasked {
		return nil
	}
	if c.route.access == open {
		c.caller = h.cfg.Gate.Stranger(c.Request, c.route.entrance())
	} else if err := h.identify(w, c); err != nil {
		return err
	}
	if found.route == nil {
		return found.refuse(w, c.Request)
	}
	if c.route.access == byTask {
		id, err := messages.ParseTaskID(c.PathValue("id"))
		if err != nil {
			return err
		}
		if err := c.caller.CheckTask(c.Context(), id); err != nil {
			return err
		}
		c.id = id
	}
	if err := c.checkQuery(queryErr); err != nil {
		return err
	}
	if err := h.checkLease(c); err != nil {
		return err
	}
	if c.doesRenew() {
		// An unknown task is the handler's to report.
		_ = h.cfg.Node.Renew(c.id)
	}
	return nil
}

// identify finds out who asks, and has the call's context say so.
func (h *Handler) identify(w http.ResponseWriter, c *call) (err error) {
	if c.caller, err = h.authenticate(c); err != nil {
		w.Header().Set("WWW-Authenticate", gate.Challenge)
		return err
	}
	if ctx := c.caller.Context(c.Context()); ctx != c.Context() {
		c.Request = c.WithContext(ctx)
	}
	return nil
}

func (c *call) doesRenew() bool { return c.id != "" && !c.route.doesNotRenew }

// checkQuery refuses a malformed query and parameters the route does not have.
func (c *call) checkQuery(malformed error) error {
	if c.route.isCDP {
		return nil
	}
	if malformed != nil {
		return messages.Errorf(messages.CodeInvalidArgument, "the query is malformed")
	}
	for name := range c.query {
		if c.route.takesParameter(name) || name == tokenParam && c.route.allowsQueryToken {
			continue
		}
		return messages.Errorf(messages.CodeInvalidArgument, "this route takes no such query parameter").With("allowed", c.route.queryNames())
	}
	return nil
}

// hasHungUp says that a request has no good answer because its caller ended the
// connection first. The server ends the context of a request whose handler runs for
// nothing else.
func hasHungUp(out *response, c *call) bool {
	return c.Context().Err() != nil && (out.isCut || out.status == http.StatusGatewayTimeout || out.status == http.StatusServiceUnavailable)
}

// panicked answers for a handler that panicked; the reason stays here.
func (h *Handler) panicked(w *response, c *call, p any) {
	if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it this way
		panic(p)
	}
	h.cfg.Logger.LogAttrs(c.Context(), slog.LevelError, "handler panicked",
		slog.String("route", c.route.pattern()), slog.String("task", string(c.id)),
		slog.String("panic", panicText(p)), slog.String("stack", string(debug.Stack())))
	h.fail(w, c, errInternal)
}

// panicText says what panicked without its value, which may be a page's text:
// the runtime's own errors hold none, and of others the stack tells.
func panicText(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", p)
}

var errInternal = messages.Errorf(messages.CodeInternal, "the request failed on our side")

// fail answers with the error, or cuts the connection where the answer has
// begun already.
func (h *Handler) fail(w *response, c *call, err error) {
	if w.status != 0 {
		w.isCut = true
		panic(http.ErrAbortHandler)
	}
	var own *messages.Error
	switch {
	case errors.As(err, &own):
	case c.Context().Err() != nil:
		// The caller has gone; what is written is lost.
		own = messages.Errorf(messages.CodeDeadline, "the caller went away")
	case errors.Is(err, context.DeadlineExceeded):
		own = messages.Errorf(messages.CodeDeadline, "not done in time")
	default:
		h.logFailure(c, "request failed", err)
		own = errInternal
	}
	if after, ok := own.Details["retry_after_s"].(int); ok {
		w.Header().Set("Retry-After", strconv.Itoa(after))
	}
	h.reply(w, c, statusOf(err, own), messages.ErrorReply{Error: own})
}

// logFailure logs an error that is not for callers.
func (h *Handler) logFailure(c *call, what string, err error) {
	h.cfg.Logger.LogAttrs(c.Context(), slog.LevelError, what,
		slog.String("route", c.route.pattern()), slog.String("task", string(c.id)), slog.String("err", redact.Text(err.Error())))
}
