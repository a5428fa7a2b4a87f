package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"sync/atomic"

	"holdfast/internal/artifact"
	"holdfast/internal/browser"
	"holdfast/internal/cli"
	"holdfast/internal/gateway"
	"holdfast/internal/gctuning"
	"holdfast/internal/node"
	scripting "holdfast/internal/run"
	"holdfast/internal/tracing"
	"holdfast/messages"
	"holdfast/metrics"
)

// start starts a node for serve.
func start(ctx context.Context, cfg cli.NodeConfig) (*cli.RunningNode, error) {
	// Browsers leave children of their own behind; where no init reaps them, as in a
	// container, the node does (X24).
	if err := browser.BecomeSubreaper(); err != nil {
		return nil, err
	}
	reaping, stopReaping := context.WithCancel(context.WithoutCancel(ctx))
	go browser.ReapOrphans(reaping)
	traces := &tracer{}
	if cfg.Tracing == "otlp" {
		var err error
		if traces.Provider, err = tracing.Start(ctx, cfg.Version, cfg.Logger); err != nil {
			stopReaping()
			return nil, err
		}
	}
	files, err := artifact.New(filepath.Join(cfg.StateDir, "artifacts"), artifact.DefaultBounds())
	if err != nil {
		stopReaping()
		traces.flush(ctx, cfg.Logger)
		return nil, err
	}
	stateKey := cmp.Or(cfg.StateKeyFile, filepath.Join(cfg.StateDir, "state.key"))
	if err := files.UseKey(stateKey); err != nil {
		stopReaping()
		traces.flush(ctx, cfg.Logger)
		return nil, err
	}
	starts := &gctuning.Starts{} // the process's heap is the program's to tune
	var joined atomic.Pointer[clustered]
	var mayDecide func(messages.TaskID) func() error
	var onSpec func(messages.TaskID, messages.TaskSpec)
	if cfg.Cluster.Enabled {
		onSpec = func(id messages.TaskID, spec messages.TaskSpec) { specified(&joined, id, spec) }
		mayDecide = func(id messages.TaskID) func() error { return permission(&joined, id) }
	}
	node, err := node.Start(ctx, node.Config{
		MayDecide: mayDecide, Specified: onSpec,
		Cluster: func() (metrics.Cluster, bool) {
			c := joined.Load()
			if c == nil {
				return metrics.Cluster{}, false
			}
			figures := c.cluster.Figures()
			figures.Actors = c.actors.figures()
			return figures, true
		},
		OnTaskStart: starts.Begin,
		StateDir:    cfg.StateDir, ChromePath: cfg.Browser.Path, ChromeArgs: cfg.Browser.Args, BrowserTransport: browser.Transport(cfg.Browser.Transport), BrowserEnv: cfg.Browser.Env, WarmBrowsers: cfg.Browsers.Warm, Apps: cfg.Browser.Apps, AppsDenied: cfg.Browser.AppsDenied,
		BrowserIsolation: browser.Isolation(cfg.Browser.Isolation), BrowserSandbox: browser.Sandbox(cfg.Browser.Sandbox), ShareLinks: node.ShareLinks(cfg.Browser.ShareLinks), SecretFiles: []string{cfg.TokenFile, stateKey}, CDPURLOverride: cfg.CDPURLOverride,
		DialogRules: cfg.DialogRules, IsAudited: cfg.Logging.Audit,
		Limits: cfg.Limits.Bounds(), AllowChaos: cfg.AllowChaos, Log: cfg.Logger,
		TracerProvider: traces.provider(),
		Egress: node.Egress{
			Schemes: cfg.Egress.Schemes, Allow: cfg.Egress.Allow, Deny: cfg.Egress.Deny,
			CDPHosts: cfg.Egress.CDPHosts, MustProxyAll: cfg.Egress.Proxy == "all",
		},
	})
	if err != nil {
		stopReaping()
		traces.flush(ctx, cfg.Logger)
		return nil, err
	}
	traces.count(node)
	var clients *gateway.Gateway
	move := func(id messages.TaskID, address string) { clients.Move(id, address) }
	supervisor := member{node, &joined, cfg.CDPURLOverride, move, cfg.Logger}
	clients = gateway.New(gateway.Config{Node: supervisor, Log: cfg.Logger, Observer: node.Metrics()})
	scripts := scripting.New(scripting.OnGateway(clients))
	running := &cli.RunningNode{
		Node: supervisor, Gateway: clients, Scripts: scripts, Artifacts: files, Metrics: node.MetricsHandler(), Observer: node.Metrics(),
		BeginDrain: node.BeginDrain, Abort: node.Abort, SetLimits: node.SetLimits, Alive: node.Alive,
		TracerProvider: traces.provider(),
		Stop: func(ctx context.Context) error {
			defer stopReaping()
			defer traces.flush(ctx, cfg.Logger)
			defer starts.End()
			if c := joined.Load(); c != nil {
				c.cluster.Part() // other nodes take over what is left
			}
			clients.Drain(ctx)
			scripts.Close()
			err := node.Stop(ctx)
			if c := joined.Load(); c != nil {
				if leaving := c.leave(ctx); leaving != nil {
					// The others give the node up by themselves.
					cfg.Logger.Warn("the node could not leave its cluster in good order", "err", leaving)
				}
			}
			return err
		},
	}
	if cfg.Cluster.Enabled {
		c, err := joinCluster(cfg, supervisor)
		if err != nil {
			return nil, errors.Join(err, running.Stop(ctx))
		}
		joined.Store(c)
		running.HandOver = func(ctx context.Context) { c.drain(ctx, cfg.Logger) }
		running.Cluster, running.Peers, running.Failed = c.cluster, c.peers, c.failed()
		if c.actors != nil {
			running.OpenDesk = func(do func(*http.Request) (*http.Response, error)) error { return c.actors.open(c.cluster, do) }
		}
	}
	return running, nil
}
