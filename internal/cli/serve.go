package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"holdfast/internal/api"
	"holdfast/internal/logs"
	"holdfast/internal/token"
	"holdfast/messages"
)

// StartNode starts a node; ctx bounds the start alone.
type StartNode func(ctx context.Context, cfg NodeConfig) (*RunningNode, error)

// NodeConfig is what serve's flags say about the node.
type NodeConfig struct {
	StateDir       string
	ChromePath     string
	ChromeArgs     []string
	CDPURLOverride messages.CDPURL // every task attaches there (A7)
	IdleTimeout    time.Duration
	MaxLife        time.Duration
	MaxTasks       int
	AllowChaos     bool
	Logger         *slog.Logger
}

// RunningNode is what serve serves.
type RunningNode struct {
	Node api.Node
	// Stop ends every task and every browser the node launched.
	Stop func(context.Context) error
	// Metrics is served on /metrics; nil serves none.
	Metrics http.Handler
	// Observer hears about refused requests; nil is allowed.
	Observer api.Observer
}

// browserFlags are those of every command that launches browsers itself.
type browserFlags struct {
	Chrome    string   `placeholder:"PATH" help:"Chromium's binary. Default: HOLDFAST_CHROME, else the first one found in PATH."`
	ChromeArg []string `sep:"none" placeholder:"FLAG" help:"A flag for every launched browser; may be repeated."`
}

type serveCmd struct {
	Listen         string        `default:"127.0.0.1:7070" placeholder:"ADDR" help:"Address of the HTTP interface (${default}). One that is not loopback needs --allow-host."`
	Config         configFlag    `placeholder:"FILE" help:"JSON file with these flags by name; the command line wins."`
	MetricsListen  string        `placeholder:"ADDR" help:"Address of /metrics, without a token. Default: that of --listen."`
	AllowHost      []string      `placeholder:"NAME" help:"A name requests may be addressed to besides loopback ones; may be repeated."`
	CDPURLOverride string        `name:"cdp-url-override" placeholder:"URL" help:"Every task attaches to this browser. Default: HOLDFAST_CDP_URL_OVERRIDE, which no process list shows."`
	IdleTimeout    time.Duration `placeholder:"DURATION" help:"Stop tasks nobody asks anything of for so long."`
	MaxLife        time.Duration `placeholder:"DURATION" help:"Stop tasks that are so old."`
	MaxTasks       int           `placeholder:"N" help:"How many tasks may run at a time."`
	AllowChaos     bool          `help:"Let holdfast chaos break tasks' connections, to see that nothing is lost by it."`
	LogFormat      string        `enum:"text,json" default:"text" help:"text or json (${default}), on standard error."`
	LogLevel       slog.Level    `default:"info" help:"debug, info, warn or error (${default})."`
	browserFlags
}

// How long a node that was told to stop may take: answers under way first,
// then tasks and browsers (A10: 5 s for a stop).
const (
	drainTime = 5 * time.Second
	stopTime  = 20 * time.Second
)

// check refuses what cannot work before anything is started.
func (c *serveCmd) check(getenv func(string) string) (override messages.CDPURL, err error) {
	for name, addr := range map[string]string{"--listen": c.Listen, "--metrics-listen": c.MetricsListen} {
		if addr == "" {
			continue
		}
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return override, usagef("%s must be HOST:PORT", name)
		}
		if !api.IsLoopback(host) && len(c.AllowHost) == 0 {
			return override, usagef("%s %s is open to other machines: say with --allow-host under which name they may ask for it", name, addr)
		}
	}
	if c.IdleTimeout < 0 || c.MaxLife < 0 || c.MaxTasks < 0 {
		return override, usagef("--idle-timeout, --max-life and --max-tasks must not be negative")
	}
	override, err = messages.ParseCDPURL(firstOf(c.CDPURLOverride, getenv("HOLDFAST_CDP_URL_OVERRIDE")))
	if err != nil {
		return override, &usageError{fmt.Errorf("--cdp-url-override: %w", err)}
	}
	return override, nil
}

// Run implements the command. It ends, well, when its context does.
func (c *serveCmd) Run(r *run) (err error) {
	override, err := c.check(r.Getenv)
	if err != nil {
		return err
	}
	if r.Start == nil {
		return messages.Errorf(messages.CodeInternal, "this build has no node")
	}
	logger := c.logger(r)
	dir, err := r.stateDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	tokenFile := cmp.Or(r.TokenFile, filepath.Join(dir, tokenName))
	admin, err := token.LoadOrCreate(tokenFile)
	if err != nil {
		return err
	}
	// Before the node: a port that is taken should cost nobody a browser.
	lis, metricsLis, err := c.listen()
	if err != nil {
		return err
	}
	defer lis.Close()
	if metricsLis != nil {
		defer metricsLis.Close()
	}

	node, err := r.Start(r, NodeConfig{
		StateDir: dir, ChromePath: c.Chrome, ChromeArgs: c.ChromeArg, CDPURLOverride: override,
		IdleTimeout: c.IdleTimeout, MaxLife: c.MaxLife, MaxTasks: c.MaxTasks, AllowChaos: c.AllowChaos, Logger: logger,
	})
	if err != nil {
		return fmt.Errorf("start node: %w", err)
	}
	defer func() {
		// The context of the command has ended by now.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r), stopTime)
		defer cancel()
		if stopErr := node.Stop(ctx); stopErr != nil {
			err = errors.Join(err, fmt.Errorf("stop node: %w", stopErr))
		}
		logger.Info("stopped")
	}()

	cfg := api.Config{Node: node.Node, Token: admin, AllowHosts: c.AllowHost, Logger: logger, Observer: node.Observer, Version: r.Version.Version}
	if metricsLis == nil {
		cfg.Metrics = node.Metrics
	}
	handler, err := api.New(cfg)
	if err != nil {
		return err
	}
	front := &front{logger: logger, ended: make(chan error, 2)}
	defer front.close(r)
	front.serve(handler, lis, api.MaxConns)
	if metricsLis != nil {
		metrics := node.Metrics
		if metrics == nil {
			metrics = http.NotFoundHandler()
		}
		front.serve(api.MetricsHandler(metrics, c.AllowHost), metricsLis, maxScrapers)
	}

	url := reachableURL(lis.Addr())
	withdraw, err := publish(dir, url, tokenFile)
	if err != nil {
		return fmt.Errorf("endpoint file: %w", err)
	}
	defer func() {
		if err := withdraw(); err != nil {
			logger.Warn("the endpoint file could not be removed", "err", err)
		}
	}()
	c.announce(r, url, tokenFile)

	select {
	case <-r.Done():
		logger.Info("stopping")
		return nil
	case err := <-front.ended:
		front.ended <- err // for close, which waits for all of them
		return fmt.Errorf("serve: %w", err)
	}
}

// front are the servers of a node.
type front struct {
	logger  *slog.Logger
	servers []*http.Server
	ended   chan error // one element per server that ended; room for all
}

func (f *front) serve(h http.Handler, l net.Listener, conns int) {
	s := api.NewServer(h, f.logger)
	f.servers = append(f.servers, s)
	go func() { f.ended <- s.Serve(api.Limit(l, conns)) }()
}

// close stops accepting and lets what is under way finish, for a while.
func (f *front) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	for _, s := range f.servers {
		if api.Shutdown(ctx, s) != nil {
			f.logger.Warn("calls that did not end in time were cut")
		}
		<-f.ended
	}
}

// maxScrapers bounds the connections of a metrics listener.
const maxScrapers = 64

func (c *serveCmd) listen() (lis, metrics net.Listener, err error) {
	if lis, err = net.Listen("tcp", c.Listen); err != nil {
		return nil, nil, fmt.Errorf("--listen: %w", err)
	}
	if c.MetricsListen == "" || c.MetricsListen == c.Listen {
		return lis, nil, nil
	}
	if metrics, err = net.Listen("tcp", c.MetricsListen); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("--metrics-listen: %w", err), lis.Close())
	}
	return lis, metrics, nil
}

func (c *serveCmd) logger(r *run) *slog.Logger {
	level := new(slog.LevelVar)
	level.Set(c.LogLevel)
	return logs.New(r.Stderr, c.LogFormat, level)
}

// announce tells whoever started the node that it is up.
func (c *serveCmd) announce(r *run, url, tokenFile string) {
	if r.JSON {
		_ = json.NewEncoder(r.Stdout).Encode(map[string]string{"url": url, "token_file": tokenFile})
		return
	}
	fmt.Fprintf(r.Stdout, "holdfast serves %s (token: %s)\n", url, tokenFile)
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
