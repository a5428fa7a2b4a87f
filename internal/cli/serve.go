package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/trace"

	"holdfast/internal/api"
	"holdfast/internal/artifact"
	"holdfast/internal/config"
	"holdfast/internal/gate"
	"holdfast/internal/logs"
	"holdfast/internal/mcp"
	"holdfast/internal/nodeurl"
	"holdfast/internal/token"
	"holdfast/internal/tools"
	"holdfast/messages"
)

// StartNode starts a node; ctx bounds the start alone.
type StartNode func(ctx context.Context, cfg NodeConfig) (*RunningNode, error)

// NodeConfig is what a node is to be like; its StateDir is never empty.
type NodeConfig struct {
	config.Config
	Version string // of the binary
	URL     string // where clients of this machine reach the node
	Logger  *slog.Logger
}

// RunningNode is what serve serves. All but Node and Stop may be nil.
type RunningNode struct {
	Node api.Node
	// Gateway serves the node's tasks to CDP clients.
	Gateway api.Gateway
	// Scripts runs scripts beside the pages of the node's tasks; nil runs none.
	Scripts tools.Scripts
	// Artifacts keeps the files of tasks; nil keeps none.
	Artifacts *artifact.Store
	// Stop ends every task and every browser the node launched.
	Stop func(context.Context) error
	// HandOver gives the tasks to other nodes of the cluster, until none is left that can be given or
	// the context ends. It may be nil.
	HandOver func(context.Context)
	// BeginDrain has it take no new tasks, and say so when asked whether it is
	// ready. It does not wait.
	BeginDrain func()
	// Abort kills the browsers the node launched, at once; ctx bounds the wait
	// for their end. It may be called while Stop runs.
	Abort func(ctx context.Context) error
	// SetLimits changes the bounds of the running node.
	SetLimits func(messages.Limits) error
	// Alive asks the node for a sign of life.
	Alive func(ctx context.Context) error
	// Metrics is served on /metrics.
	Metrics http.Handler
	// TracerProvider gets spans of requests; nil gets none.
	TracerProvider trace.TracerProvider
	// Observer hears about refused requests.
	Observer api.Observer
	// Cluster is the one that the node is part of.
	Cluster api.Cluster
	// Peers takes the connections of other nodes of the cluster, over mutual TLS.
	Peers net.Listener
	// Failed has the reason once the node cannot go on as a part of its cluster.
	Failed <-chan error
	// OpenDesk has programs on actors ask the node, which is done by requests of its admin.
	OpenDesk func(do func(*http.Request) (*http.Response, error)) error
}

// browserFlags are those of commands that launch browsers themselves.
type browserFlags struct {
	Chrome    string   `placeholder:"PATH" help:"Chromium's binary. Default: HOLDFAST_CHROME, else the first one found in PATH."`
	ChromeArg []string `sep:"none" placeholder:"FLAG" help:"A flag for every launched browser; may be repeated."`
}

type serveCmd struct {
	settings
	printing
}

// Run implements the command. It ends well when it was asked to end, by its
// context or over HTTP.
func (c *serveCmd) Run(r *run) error {
	if r.Start == nil {
		return messages.Errorf(messages.CodeInternal, "this build has no node")
	}
	cfg, err := c.load(r)
	if err != nil {
		return err
	}
	var reload <-chan struct{}
	if r.BecomeDaemon != nil {
		reload = r.BecomeDaemon()
	}
	s := &server{run: r, reloads: reload, settings: &c.settings, cfg: cfg, asked: make(chan struct{}, 1), withdraw: func() {}}
	s.level.Set(cfg.Logging.Level)
	s.log = logs.New(r.Stderr, cfg.Logging.Format, &s.level)
	for _, w := range cfg.Warnings {
		s.log.Warn("configuration: " + w)
	}
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	cfg.TokenFile = cmp.Or(cfg.TokenFile, filepath.Join(cfg.StateDir, tokenName))
	admin, err := token.LoadOrCreate(cfg.TokenFile)
	if err != nil {
		return err
	}
	// Before the node: a port that is taken should not cost a browser.
	s.front, err = listen(cfg, s.log)
	if err != nil {
		return err
	}
	defer s.front.release()

	s.node, err = r.Start(r, NodeConfig{Config: cfg.Config, Version: r.Version.Version, URL: s.front.main.url(), Logger: s.log})
	if err != nil {
		if r.Err() != nil {
			return nil // told to end before it had begun
		}
		return fmt.Errorf("start node: %w", err)
	}
	if err := s.serve(admin); err != nil {
		return s.end("could not serve", err)
	}
	return s.live()
}

// serve begins to answer calls, and reports the address to clients and to the starter of
// the node.
func (s *server) serve(admin token.Admin) error {
	entrance, err := gate.New(gate.Config{
		Token: admin, AllowHosts: s.cfg.AllowHosts, Logger: s.log, IsAudited: s.cfg.Logging.Audit, Observer: s.node.Observer,
	})
	if err != nil {
		return err
	}
	mcpHandler, err := s.mcp()
	if err != nil {
		return err
	}
	cfg := api.Config{
		MCP: mcpHandler, Node: s.node.Node, Gateway: s.node.Gateway, Scripts: s.node.Scripts, Artifacts: s.node.Artifacts, Gate: entrance, Logger: s.log, Observer: s.node.Observer, Drain: s.ask,
		TracerProvider: s.node.TracerProvider, Cluster: s.node.Cluster,
		Version: s.Version.Version, HasNoUI: !s.cfg.UI,
	}
	if s.front.metrics == nil {
		cfg.Metrics = s.node.Metrics
	}
	handler, err := api.New(cfg)
	if err != nil {
		return err
	}
	s.handler = handler
	url := s.front.main.url()
	withdraw, err := publish(s.cfg.StateDir, url, s.cfg.TokenFile)
	if err != nil {
		return fmt.Errorf("endpoint file: %w", err)
	}
	s.withdraw = sync.OnceFunc(func() {
		if err := withdraw(); err != nil {
			s.log.Warn("the endpoint file could not be removed", "err", err)
		}
	})
	s.front.observer = s.node.Observer
	s.front.serve(handler, s.node.Metrics, s.cfg.AllowHosts)
	if s.node.Peers != nil {
		s.front.start(handler.Peers(), s.node.Peers, api.MaxConns)
	}
	if s.node.OpenDesk != nil {
		if err := s.node.OpenDesk(s.front.inside.Do(admin.Reveal())); err != nil {
			return fmt.Errorf("cluster.remoting: %w", err)
		}
	}
	s.announce(url)
	return nil
}

// mcp serves the node's tools over MCP: it asks the node over HTTP as its callers do, within
// this process.
func (s *server) mcp() (*mcp.Handler, error) {
	node, err := s.front.inside.Client("")
	if err != nil {
		return nil, err
	}
	return mcp.NewHandler(
		mcp.Config{Table: tools.Info().Tools, Version: s.Version.Version, Logger: s.log},
		func(r *http.Request) mcp.Node { return mcp.For(node, r) },
	)
}

// announce tells the starter of the node that it is up.
func (s *server) announce(url string) {
	s.notify("READY=1\nSTATUS=serving " + url)
	s.log.Info("serving", "state", nodeServing, "version", s.Version.Version, "url", url, "metrics", string(s.cfg.MetricsListen),
		"config_file", s.settings.sources(s.run).File, "token_file", s.cfg.TokenFile,
		"max_tasks", s.cfg.Limits.MaxTasks, "browsers", maxBrowsers(s.cfg.Limits.Bounds()), "queue_length", s.cfg.Limits.QueueLength)
	if len(s.IgnoredSignals) > 0 {
		s.log.Info("this process was started to ignore signals", "state", nodeServing, "ignored", strings.Join(s.IgnoredSignals, ", "))
	}
	if s.IsJSON || s.cfg.Logging.Format == "json" {
		_ = json.NewEncoder(s.Stdout).Encode(map[string]string{"url": url, "token_file": s.cfg.TokenFile})
		return
	}
	fmt.Fprintf(s.Stdout, "holdfast serves %s (token: %s)\n", url, s.cfg.TokenFile)
}

// urlOf is the URL of an address that names its host.
func urlOf(a config.Address) string {
	if path, ok := a.Socket(); ok {
		return nodeurl.Node{Socket: path}.String()
	}
	return "http://" + string(a)
}

// reachableURL is the listener's URL for a client of this machine.
func reachableURL(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return "http://" + a.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // net listens on both families for either wildcard
	}
	return "http://" + net.JoinHostPort(host, port)
}
