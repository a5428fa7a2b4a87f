// Command holdfast supervises browser tasks for AI agents.
package main

import (
	"context"
	"os"
	"syscall"

	"golang.org/x/term"

	"holdfast/internal/cli"
	"holdfast/internal/demo"
	"holdfast/internal/version"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	s := listen(func(by syscall.Signal) { cancel(receivedError(by)) })
	p := &cli.Program{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Terminal: terminal(os.Stdout),
		Getenv: os.Getenv, Environ: os.Environ,
		BecomeDaemon: s.becomeDaemon, Hurry: s.hurry, IgnoredSignals: ignored(),
		Notify: notify, Watchdog: watchdog,
		Version: version.Read(), Start: start, Restore: restore, Demo: tell(demo.Run), ClusterDemo: tell(demo.RunCluster),
	}
	return p.Run(ctx, os.Args[1:])
}

func tell(story func(context.Context, demo.Options) error) cli.TellDemo {
	return func(ctx context.Context, o cli.DemoOptions) error {
		return story(ctx, demo.Options{Out: o.Out, ChromePath: o.ChromePath, ChromeArgs: o.ChromeArgs, DrawTree: cli.PrintTree})
	}
}

// terminal is what f is shown on.
func terminal(f *os.File) cli.Terminal {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return cli.Terminal{}
	}
	width, _, err := term.GetSize(fd)
	if err != nil {
		width = 0 // of a terminal that does not say it, nothing is cut
	}
	return cli.Terminal{Width: width, HasColor: canColor(f)}
}
