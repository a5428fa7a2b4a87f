// Command holdfast stands between agents and browsers and never lets go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"holdfast/internal/cli"
	"holdfast/internal/demo"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, ending()...)
	go func() {
		<-signals
		// The first signal asks for an orderly end. The default disposition is
		// restored before anybody hears of it, so that a second one ends the
		// process at once whenever it comes.
		signal.Stop(signals)
		cancel()
	}()
	p := &cli.Program{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Version: cli.BuildVersion(), Start: start, Demo: tell,
	}
	return p.Run(ctx, os.Args[1:])
}

func tell(ctx context.Context, o cli.DemoOptions) error {
	return demo.Run(ctx, demo.Options{Out: o.Out, ChromePath: o.ChromePath, ChromeArgs: o.ChromeArgs, DrawTree: cli.PrintTree})
}

// ending are the signals that end a command. One that the process was started
// to ignore, as nohup does with a hangup, stays ignored.
func ending() []os.Signal {
	var out []os.Signal
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			out = append(out, s)
		}
	}
	return out
}
