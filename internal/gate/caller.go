package gate

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"holdfast/internal/token"
	"holdfast/messages"
)

// Caller is the sender of one request, known by its token. It is a value: it may be kept for
// as long as a stream lasts, and used concurrently.
type Caller struct {
	gate  *Gate
	route Route
	from  string
	scope token.Scope
	// only is the task of the ticket that let the caller in; "" otherwise.
	only messages.TaskID
}

// Stranger returns the sender of a request whose token has not been looked at: no task is
// covered. It is for routes that need no token.
func (g *Gate) Stranger(r *http.Request, route Route) Caller {
	from, _, _ := net.SplitHostPort(r.RemoteAddr)
	return Caller{gate: g, route: route, from: from}
}

// Vouched returns the sender of a request that another node of the cluster has let in with
// this scope. The caller has made sure that the request comes from such a node.
func (g *Gate) Vouched(r *http.Request, route Route, scope token.Scope) (Caller, error) {
	c := g.Stranger(r, route)
	if end := scope.Ends(); !end.IsZero() && !time.Now().Before(end) {
		return c, errExpired
	}
	c.scope = scope
	return c, nil
}

// Scope returns what the caller's token is good for. That of a ticket is its giver's; what
// the ticket itself covers, [Caller.Allows] says.
func (c Caller) Scope() token.Scope { return c.scope }

// Address returns the caller's IP address, for logs and lists.
func (c Caller) Address() string { return c.from }

// Allows says whether the caller may see and use the task.
func (c Caller) Allows(id messages.TaskID) bool {
	return c.scope.Allows(id) && (c.only == "" || c.only == id)
}

// CheckTask refuses a task that the caller may not use, whether there is such a task or not.
// The error is a [messages.Error] with the code forbidden; it is counted and logged here.
func (c Caller) CheckTask(ctx context.Context, id messages.TaskID) error {
	if c.Allows(id) {
		return nil
	}
	return c.Refuse(ctx, messages.Errorf(messages.CodeForbidden, "the token is not good for this task"))
}

// Context returns a context by which the node knows the caller: its policy for scoped tokens
// follows from it.
func (c Caller) Context(ctx context.Context) context.Context {
	if c.scope.IsAdmin() {
		return ctx
	}
	return messages.WithCaller(ctx, c.scope.Caller())
}

// Refuse counts and logs that the caller's token is missing, wrong or not good for what was
// asked, and returns err. Of many refusals the log has one a minute.
func (c Caller) Refuse(ctx context.Context, err error) error {
	c.gate.cfg.Observer.AuthFailed(c.route.Class)
	c.gate.cfg.Logger.LogAttrs(ctx, slog.LevelWarn, "a request was refused for its token", slog.String("route", c.route.Path), slog.String("from", c.from))
	return err
}
