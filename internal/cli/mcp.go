package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"time"

	"holdfast/client"
	"holdfast/internal/api"
	"holdfast/internal/gate"
	"holdfast/internal/logs"
	"holdfast/internal/mcp"
	"holdfast/internal/token"
	"holdfast/messages"
)

type mcpCmd struct {
	Tools   string  `default:"core" placeholder:"TOOLS" group:"What is offered" help:"Which tools: core, all, or names of tools with commas between them."`
	Profile string  `placeholder:"NAME" group:"What is offered" help:"The tools of another system, so that prompts written for it work: hermes, playwright or omp."`
	Task    *taskID `placeholder:"NAME" group:"The task" help:"The task of tools that are given none. Default: one of this client's own, which ends with it."`
	CDPURL  string  `name:"cdp-url" placeholder:"URL" group:"The task" help:"Attach that task to this browser instead of launching one."`
	Headful bool    `group:"The task" help:"Launch its browser with a window."`

	Node      string `placeholder:"URL" group:"The node" help:"The node. Default: the one that serve runs on this machine, else one within this process. (HOLDFAST_NODE)"`
	TokenFile string `placeholder:"FILE" type:"path" group:"The node" help:"File that holds the token. Default: the file that serve wrote. (HOLDFAST_TOKEN: the token itself)"`

	Config string `placeholder:"FILE" type:"path" group:"A node within this process" help:"YAML file of its settings. (HOLDFAST_CONFIG)"`
	browserFlags
}

// Help implements kong.HelpProvider.
func (*mcpCmd) Help() string {
	return `Examples:
  holdfast mcp
  holdfast mcp --tools all --cdp-url http://127.0.0.1:9222
  claude mcp add holdfast -- holdfast mcp`
}

// Run implements the command. Standard output carries messages of MCP and nothing else.
func (c *mcpCmd) Run(r *run) error {
	spec, err := c.spec()
	if err != nil {
		return err
	}
	var level slog.LevelVar
	level.Set(slog.LevelWarn)
	log := logs.New(r.Stderr, "text", &level)
	node, stop, err := c.reach(r, log)
	if err != nil {
		return err
	}
	defer stop()
	table, err := node.Tools(r)
	if err != nil {
		return err
	}
	own := mcp.OwnTask{Spec: spec}
	if c.Task != nil {
		own.ID = c.Task.TaskID
	}
	in, ok := r.Stdin.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(r.Stdin)
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	cfg := mcp.Config{Table: table.Tools, Tools: c.Tools, Profile: c.Profile, Version: r.Version.Version, Dir: dir, Logger: log}
	err = mcp.Serve(r, node, cfg, own, in, r.Stdout)
	if messages.CodeOf(err) == messages.CodeInvalidArgument {
		return &usageError{err: err}
	}
	return err
}

func (c *mcpCmd) spec() (messages.TaskSpec, error) {
	var s messages.TaskSpec
	if c.CDPURL != "" {
		url, err := messages.ParseCDPURL(c.CDPURL)
		if err != nil {
			return s, &usageError{err: err}
		}
		s.CDPURL = url
	}
	if c.Headful {
		isHeadless := false
		s.Launch = &messages.LaunchSpec{Headless: &isHeadless}
	}
	if err := s.Validate(); err != nil {
		return s, &usageError{err: err}
	}
	return s, nil
}

// reachTime is how long a node that is said to run may take to answer.
const reachTime = 2 * time.Second

// reach returns the node that is named, or the one that runs on this machine, or one within this
// process. Call stop once.
func (c *mcpCmd) reach(r *run, log *slog.Logger) (node *client.Client, stop func(), err error) {
	node, err = r.clientThat(nil)
	isNamed := r.Node != "" || r.Getenv("HOLDFAST_NODE") != ""
	var none *client.Unreachable
	switch {
	case err == nil:
		ctx, cancel := context.WithTimeout(r, reachTime)
		defer cancel()
		if isNamed || node.Live(ctx) == nil {
			return node, node.Close, nil
		}
		node.Close() // it was killed, and left its file
	case isNamed || !errors.As(err, &none):
		return nil, nil, err
	}
	return c.embed(r, log)
}

// embed starts a node within this process, which ends with the command.
func (c *mcpCmd) embed(r *run, log *slog.Logger) (node *client.Client, stop func(), err error) {
	if r.Start == nil {
		return nil, nil, messages.Errorf(messages.CodeInternal, "this build has no node")
	}
	s := newSettings()
	s.Config = c.Config
	cfg, err := s.load(r)
	if err != nil {
		return nil, nil, err
	}
	if c.Chrome != "" {
		cfg.Browser.Path = c.Chrome
	}
	cfg.Browser.Args = append(cfg.Browser.Args, c.ChromeArg...)
	if err := os.MkdirAll(cfg.StateDir, 0o700); err != nil {
		return nil, nil, err
	}
	started, err := r.Start(r, NodeConfig{Config: cfg.Config, Version: r.Version.Version, Logger: log})
	if err != nil {
		return nil, nil, err
	}
	end := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r), cfg.Drain.Timeout)
		defer cancel()
		if err := started.Stop(ctx); err != nil {
			log.Error("the node could not be stopped in order", "err", err)
		}
	}
	admin := token.Generate() // nothing outside this process can ask
	entrance, err := gate.New(gate.Config{Token: admin, Logger: log, IsAudited: cfg.Logging.Audit, Observer: started.Observer})
	if err != nil {
		end()
		return nil, nil, err
	}
	handler, err := api.New(api.Config{
		Node: started.Node, Gateway: started.Gateway, Scripts: started.Scripts, Artifacts: started.Artifacts, Gate: entrance, Logger: log, Observer: started.Observer,
		TracerProvider: started.TracerProvider, Version: r.Version.Version, HasNoUI: true,
	})
	if err != nil {
		end()
		return nil, nil, err
	}
	inside := mcp.NewInside()
	node, err = inside.Client(admin.Reveal())
	if err != nil {
		end()
		return nil, nil, err
	}
	server := api.NewServer(handler, log)
	served := make(chan error, 1)
	go func() { served <- server.Serve(inside) }()
	return node, func() {
		end()
		node.Close()
		_ = server.Close()
		<-served
	}, nil
}
