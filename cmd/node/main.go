// Command holdfast stands between agents and browsers and never lets go.
package main

import (
	"context"
	"os"

	"holdfast/internal/cli"
	"holdfast/internal/demo"
	"holdfast/internal/version"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := listen(cancel)
	p := &cli.Program{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ,
		BecomeDaemon: s.becomeDaemon, Hurry: s.hurry,
		Notify: notify, Watchdog: watchdog,
		Version: version.Read(), Start: start, Demo: tell,
	}
	return p.Run(ctx, os.Args[1:])
}

func tell(ctx context.Context, o cli.DemoOptions) error {
	return demo.Run(ctx, demo.Options{Out: o.Out, ChromePath: o.ChromePath, ChromeArgs: o.ChromeArgs, DrawTree: cli.PrintTree})
}
