package api

import (
	"errors"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/trace"

	"holdfast/internal/artifact"
	"holdfast/internal/gate"
	"holdfast/internal/logs"
	"holdfast/internal/shed"
	"holdfast/internal/tools"
)

// Config says what the HTTP layer serves and to whom. Zero fields but Node and
// Gate mean the default.
type Config struct {
	Node Node
	// Gate decides who may ask.
	Gate *gate.Gate
	// Gateway serves the CDP endpoints of tasks; nil serves none.
	Gateway Gateway
	// Scripts runs scripts beside pages, for the tool browser_run; nil refuses them. It is
	// not asked where Tools is given.
	Scripts tools.Scripts
	// Tools runs tools on tasks. Every door of a node shares one table; nil makes one for Node.
	Tools *tools.Table
	// Artifacts keeps the files of tasks; nil keeps none. Tools that are given keep theirs in
	// the same one.
	Artifacts *artifact.Store
	// MCP serves the tools over the Model Context Protocol; nil does not.
	MCP MCP
	// Cluster is the one that the node is part of; nil without one.
	Cluster Cluster
	// HasNoUI leaves the live page out.
	HasNoUI bool
	// Version is what callers are told of the node's build.
	Version string
	// Metrics is served on /metrics without a token; nil serves none there.
	Metrics http.Handler
	// Drain is called when the holder of the admin token asks for the node's end;
	// it must not wait. Nil refuses.
	Drain func()
	// Logger gets an access log at debug level and failures at error level.
	Logger *slog.Logger
	// TracerProvider, where not nil, gets a span for each call that has passed the
	// gate, within the caller's trace where it names one (traceparent).
	TracerProvider trace.TracerProvider
	// Observer hears what metrics want to count.
	Observer Observer

	// Heartbeat is the time between two comments on a silent event stream.
	Heartbeat time.Duration
	// WriteTimeout ends a connection whose reader takes nothing for so long.
	WriteTimeout time.Duration
	// BodyTimeout bounds how long a request's body may take to arrive.
	BodyTimeout time.Duration
}

// Observer hears about requests, and what the gate refuses. Its methods are called on the request's own
// goroutine, many at a time, and must not wait.
type Observer interface {
	gate.Observer
	// Request is called for every request that has been answered, with the time
	// that took. Cut says that the answer did not come to its end.
	Request(routeClass string, status int, cut bool, took time.Duration)
}

const (
	// Half of what proxies commonly allow a silent stream.
	defaultHeartbeat    = 15 * time.Second
	defaultWriteTimeout = 30 * time.Second
	defaultBodyTimeout  = 30 * time.Second
)

// MaxConns is the number of connections a node's listener should be held to
// ([gate.Limit]): room for an event stream and a caller for each of a few thousand
// tasks, and far below a process's usual file limit.
const MaxConns = 8192

var quiet = slog.New(slog.DiscardHandler)

type deaf struct{}

func (deaf) AuthFailed(string)                        {}
func (deaf) Request(string, int, bool, time.Duration) {}
func (deaf) StreamOpened()                            {}
func (deaf) StreamClosed()                            {}
func (deaf) Cut(shed.Bound)                           {}

func (c Config) withDefaults() (Config, error) {
	if c.Node == nil {
		return c, errors.New("api: no node")
	}
	if c.Gate == nil {
		return c, errors.New("api: no gate")
	}
	if c.Logger == nil {
		c.Logger = quiet
	}
	c.Logger = logs.Guard(c.Logger)
	if c.Observer == nil {
		c.Observer = deaf{}
	}
	if c.Tools == nil {
		c.Tools = tools.New(c.Node, c.Logger).WithScripts(c.Scripts).WithArtifacts(c.Artifacts)
	}
	setDefault(&c.Heartbeat, defaultHeartbeat)
	setDefault(&c.WriteTimeout, defaultWriteTimeout)
	setDefault(&c.BodyTimeout, defaultBodyTimeout)
	return c, nil
}

func setDefault[T comparable](field *T, def T) {
	var zero T
	if *field == zero {
		*field = def
	}
}
