package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kong"

	"holdfast/client"
	"holdfast/internal/version"
	"holdfast/messages"
)

// Program is the process the command line runs in. The zero value of a field
// means that there is none of it.
type Program struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Terminal is what Stdout is shown on.
	Terminal Terminal
	// Getenv reads the environment.
	Getenv func(string) string
	// Environ lists the environment, for what serve reads of it; nil lists
	// nothing.
	Environ func() []string
	// BecomeDaemon is called by serve as it begins; what comes from then on asks
	// to read the configuration again.
	BecomeDaemon func() (reload <-chan struct{})
	// Hurry is closed when the orderly end that the context asked for is to be
	// cut short.
	Hurry <-chan struct{}
	// IgnoredSignals are the names of those that the process was started to ignore,
	// and that serve would act on.
	IgnoredSignals []string
	// Notify tells a service manager about serve, in the words of sd_notify(3).
	Notify func(state string) error
	// Watchdog is within which time the service manager wants to hear that serve
	// lives; 0 is never.
	Watchdog func() (time.Duration, error)
	// Version is what was built.
	Version version.Info
	// Start starts a node, for serve.
	Start StartNode
	// Restore makes the store of a cluster's voter of a copy.
	Restore RestoreCluster
	// Demo runs the demo, and ClusterDemo that of a cluster.
	Demo, ClusterDemo TellDemo
}

// TellDemo runs a demo.
type TellDemo func(ctx context.Context, o DemoOptions) error

// DemoOptions say how the demo is to run.
type DemoOptions struct {
	Out        io.Writer
	ChromePath string
	ChromeArgs []string
}

// Exit codes of the contract.
const (
	exitOK          = 0
	exitRefused     = 1
	exitUsage       = 2
	exitUnreachable = 3
)

// grammar is the whole command line.
type grammar struct {
	Serve    serveCmd    `cmd:"" help:"Run a node until SIGTERM or SIGINT."`
	Demo     demoCmd     `cmd:"" help:"The whole story on a real local browser in a few seconds."`
	Task     taskCmd     `cmd:"" help:"Start, list, show and stop tasks."`
	Snapshot snapshotCmd `cmd:"" help:"Show a task's state now."`
	Tree     actorsCmd   `cmd:"" help:"Show the supervision tree: every actor, its state and its restarts."`
	UI       uiCmd       `cmd:"" name:"ui" help:"Print a link to the node's live page that carries the token."`
	Watch    watchCmd    `cmd:"" help:"Show a task's state as it changes."`
	Dialog   dialogCmd   `cmd:"" help:"List and answer JavaScript dialogs."`
	Navigate navigateCmd `cmd:"" help:"Send a task's page to a URL."`
	Recover  recoverCmd  `cmd:"" help:"Get a page back that does not answer."`
	CDP      cdpCmd      `cmd:"" name:"cdp" help:"Run one raw CDP command on a task's own connection."`
	Tool     toolCmd     `cmd:"" help:"Run one tool on a task, or list the tools."`
	Artifact artifactCmd `cmd:"" help:"List, save and send the files of a task."`
	MCP      mcpCmd      `cmd:"" name:"mcp" help:"Offer the tools to an MCP client, over standard input and output."`
	Connect  connectCmd  `cmd:"" help:"Open a port that behaves like --remote-debugging-port of a task's browser, for tools that take only a port."`
	Clients  clientsCmd  `cmd:"" help:"List the CDP clients of a task, such as Playwright."`
	Chaos    chaosCmd    `cmd:"" help:"Break a task's connections on purpose and see it come back (serve --allow-chaos)."`
	Pressure pressureCmd `cmd:"" help:"Show how close the node is to its limits."`
	Cluster  clusterCmd  `cmd:"" help:"Make certificates for nodes that work together, see how they stand, and look after their store."`
	Config   configCmd   `cmd:"" help:"Look at the configuration of a node."`
	Drain    drainCmd    `cmd:"" help:"Have the node take no new tasks, let calls finish, and end."`
	Token    tokenCmd    `cmd:"" help:"Print a token that is good for one task or one tenant."`
	Probe    probeCmd    `cmd:"" help:"Ask a node whether it lives, or is ready for tasks (for health checks)."`
	Doctor   doctorCmd   `cmd:"" help:"Say what is missing on this machine and how to mend it."`
	Version  versionCmd  `cmd:"" help:"Print the version."`

	Completion completionCmd `cmd:"" help:"Print the code that makes a shell complete holdfast's commands."`
	Man        manCmd        `cmd:"" help:"Print the manual page."`
}

// run is one invocation, handed to the command.
type run struct {
	context.Context
	*Program
	shared
}

// newGrammar returns the grammar with the flags of every setting.
func newGrammar() *grammar {
	var g grammar
	for _, s := range []*settings{&g.Serve.settings, &g.Config.Print.settings, &g.Doctor.settings, &g.Cluster.Restore.settings} {
		*s = newSettings()
	}
	return &g
}

// exited carries kong's wish to end the process, after --help, past its own
// parsing.
type exited int

// Run runs one command line, without the program's name, and returns its exit
// code.
func (p *Program) Run(ctx context.Context, args []string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			status, ok := r.(exited)
			if !ok {
				panic(r)
			}
			code = int(status)
		}
	}()
	g := newGrammar()
	parser, err := kong.New(g,
		kong.Name("holdfast"),
		kong.Description("Supervises browser tasks for AI agents.\n\nStart: holdfast serve runs a node, holdfast task start NAME starts a task, holdfast ui shows both."),
		kong.Writers(p.Stdout, p.Stderr),
		kong.Exit(func(status int) { panic(exited(status)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // the grammar itself is wrong: no command line can work
	}
	if p.isCompleting() {
		p.complete(ctx, parser)
		return exitOK
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return p.fail(misparsed(err), failing{isJSON: isJSONAsked(err, args)})
	}
	out := &observed{Writer: p.Stdout}
	own := *p
	own.Stdout = out
	flags := sharedOf(parsed)
	err = parsed.Run(&run{Context: ctx, Program: &own, shared: flags})
	return p.fail(err, failing{command: commandOf(parsed), task: taskOf(parsed), isJSON: flags.IsJSON, hasOutput: out.isUsed.Load()})
}

// observed is a writer that remembers whether it was used.
type observed struct {
	io.Writer
	isUsed atomic.Bool
}

// Write implements io.Writer.
func (o *observed) Write(b []byte) (int, error) {
	o.isUsed.Store(true)
	return o.Writer.Write(b)
}

// client returns a client of the node that flags, environment or the state
// directory name.
func (r *run) client() (*client.Client, error) {
	return r.clientThat(func(body []byte) {
		if r.IsJSON {
			fmt.Fprintf(r.Stdout, "%s\n", strings.TrimSpace(string(body)))
		}
	})
}

func (r *run) clientThat(onBody func([]byte)) (*client.Client, error) {
	node, tok, err := r.find()
	if err != nil {
		return nil, err
	}
	c, err := client.New(node, client.Options{Token: tok, OnBody: onBody})
	if err != nil {
		return nil, &usageError{err: err}
	}
	return c, nil
}

// people prints for people, where JSON was not asked for.
func (r *run) people(format string, args ...any) {
	if !r.IsJSON {
		fmt.Fprintf(r.Stdout, format, args...)
	}
}

// taskID is a task id on the command line, checked when it is parsed.
type taskID struct{ messages.TaskID }

// UnmarshalText implements encoding.TextUnmarshaler for kong.
func (t *taskID) UnmarshalText(b []byte) (err error) {
	t.TaskID, err = messages.ParseTaskID(string(b))
	return err
}
