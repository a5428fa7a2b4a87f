// Command holdfast stands between agents and browsers and never lets go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"holdfast/internal/cli"
)

func main() { os.Exit(run()) }

func run() int {
	// The first signal asks for an orderly end; with the second, which finds
	// its default disposition restored, the process ends at once.
	ctx, stop := signal.NotifyContext(context.Background(), ending()...)
	defer stop()
	context.AfterFunc(ctx, stop)
	p := &cli.Program{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Version: cli.BuildVersion(), Start: start,
	}
	return p.Run(ctx, os.Args[1:])
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
