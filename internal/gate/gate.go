package gate

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"holdfast/internal/logs"
	"holdfast/internal/shed"
	"holdfast/internal/token"
	"holdfast/messages"
)

// Config says who may ask. Zero fields but Token mean the default.
type Config struct {
	Token token.Admin
	// AllowHosts are names, without port, that a request's Host may have
	// besides the loopback ones.
	AllowHosts []string
	// Logger gets refusals as warnings, and the audit.
	Logger *slog.Logger
	// IsAudited has what callers do to tasks logged as information, and not only at
	// debug level (X20).
	IsAudited bool
	// Observer hears what metrics want to count.
	Observer Observer
	// MaxStreams bounds the event streams open at a time; 1024 by default.
	MaxStreams int
}

// Observer hears about refusals and streams. Its methods are called on the request's own
// goroutine, many at a time, and must not wait.
type Observer interface {
	// AuthFailed is called for every request whose token is missing, wrong or
	// out of scope. The class is one of a few names, fit for a metric's label.
	AuthFailed(routeClass string)
	// StreamOpened is called for every event stream, and StreamClosed at its end.
	StreamOpened()
	StreamClosed()
	// Cut is called for whatever is refused because of a bound.
	Cut(b shed.Bound)
}

type noObserver struct{}

func (noObserver) AuthFailed(string) {}
func (noObserver) StreamOpened()     {}
func (noObserver) StreamClosed()     {}
func (noObserver) Cut(shed.Bound)    {}

// Gate holds the rules of a [Config]. It is safe for concurrent use.
type Gate struct {
	cfg     Config
	hosts   Hosts
	streams *Shares // event streams
	codes   onceStore
	tickets onceStore
	closing context.Context // ends when streams are to end
	close   context.CancelFunc
}

// The shares of one token in the event streams that all callers have together. A task's page
// needs one stream, and its agent another; some are kept for the admin.
const (
	taskStreams   = 8
	tenantStreams = 128
	adminStreams  = 64 // kept for the admin token; fewer where there are few
	maxStreams    = 1024
)

// New returns a gate. A [Config] without an admin token is refused.
func New(cfg Config) (*Gate, error) {
	if cfg.Token.IsZero() {
		return nil, errors.New("gate: no admin token")
	}
	return newGate(cfg), nil
}

// WithoutToken returns a gate at which no token is good, for listeners whose routes need none.
// It checks Host and Origin alone, and logs nothing.
func WithoutToken(allowHosts []string) *Gate { return newGate(Config{AllowHosts: allowHosts}) }

func newGate(cfg Config) *Gate {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.Logger = logs.Guard(cfg.Logger)
	if cfg.Observer == nil {
		cfg.Observer = noObserver{}
	}
	if cfg.MaxStreams == 0 {
		cfg.MaxStreams = maxStreams
	}
	g := &Gate{
		cfg:     cfg,
		hosts:   NewHosts(cfg.AllowHosts),
		streams: NewShares(Bounds{All: int64(cfg.MaxStreams), Admin: int64(min(adminStreams, cfg.MaxStreams/4)), Tenant: tenantStreams, Task: taskStreams}),
		codes:   onceStore{life: codeLife, most: maxCodes, each: maxCodes},
		tickets: onceStore{life: ticketLife, most: maxTickets, each: maxTicketsEach},
	}
	g.closing, g.close = context.WithCancel(context.Background())
	return g
}

// HasToken says whether any token is good here.
func (g *Gate) HasToken() bool { return !g.cfg.Token.IsZero() }

// CheckHost refuses a request for a Host that is not served, and one from a page of another
// origin. The error is a [messages.Error] with the code forbidden.
func (g *Gate) CheckHost(r *http.Request) error {
	if err := g.hosts.Check(r); err != nil {
		return err
	}
	return nil
}

// Route is what the gate has to know of an entrance.
type Route struct {
	// Class is the kind of route in metrics: one of a few names.
	Class string
	// Path is the route's pattern, for the log: never a path that a caller has sent.
	Path string
	// TokenParam names the query parameter that may carry a token where there is no
	// Authorization header; "" takes none.
	TokenParam string
	// IsAdminInURL takes the admin token, which does not end, from the query as well. URLs are
	// kept and logged by others: it is for clients that can send no header.
	IsAdminInURL bool
	// HasTickets takes ?ticket=, which [Caller.Ticket] gives.
	HasTickets bool
}

// TicketParam is the query parameter that carries a ticket.
const TicketParam = "ticket"

// Challenge is the value of WWW-Authenticate that goes with the code unauthorized.
const Challenge = `Bearer realm="holdfast"`

// Authenticate finds out who asks. The error is a [messages.Error] with the code
// unauthorized; it is counted and logged here.
func (g *Gate) Authenticate(r *http.Request, route Route) (Caller, error) {
	c := g.Stranger(r, route)
	if err := c.identify(r); err != nil {
		return c, c.Refuse(r.Context(), err)
	}
	if v := visitorOf(r.Context()); v != nil {
		v.trust()
	}
	return c, nil
}

// identify sets what the request's credential is good for.
func (c *Caller) identify(r *http.Request) error {
	given, isQuery := "", false
	switch header := r.Header.Values("Authorization"); len(header) {
	case 0:
		if c.route.TokenParam == "" && !c.route.HasTickets {
			break
		}
		query, _ := url.ParseQuery(r.URL.RawQuery) // what is malformed is the route's to refuse
		if c.route.HasTickets && query.Has(TicketParam) {
			return c.useTicket(query.Get(TicketParam))
		}
		if c.route.TokenParam != "" {
			given, isQuery = query.Get(c.route.TokenParam), true
		}
	case 1:
		if scheme, tok, _ := strings.Cut(header[0], " "); strings.EqualFold(scheme, "Bearer") {
			given = strings.TrimSpace(tok)
		}
	}
	scope, err := c.gate.cfg.Token.Verify(given, time.Now())
	switch {
	case errors.Is(err, token.ErrExpired):
		return errExpired
	case err != nil:
		return messages.Errorf(messages.CodeUnauthorized, "a valid token is needed: Authorization: Bearer TOKEN")
	case isQuery && !c.route.IsAdminInURL && scope.IsAdmin() && scope.Ends().IsZero():
		return messages.Errorf(messages.CodeUnauthorized, "the admin token is not taken from a URL, which is kept and logged: use the Authorization header, or a token that ends")
	}
	c.scope = scope
	return nil
}

var errExpired = messages.Errorf(messages.CodeUnauthorized, "the token has expired: get a new one from the node's operator")
