package main

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"holdfast/internal/browser"
	"holdfast/test/clients"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var c checkout
	from := flag.String("playwright", "", "a checkout of microsoft/playwright")
	only := flag.String("files", "", "only these of the files, separated by spaces")
	flag.StringVar(&c.grep, "grep", "", "only the tests whose titles match")
	flag.DurationVar(&c.timeout, "timeout", 30*time.Second, "how long one test may take")
	flag.Parse()
	if c.files = files; *only != "" {
		c.files = strings.Fields(*only)
	}
	if err := compare(ctx, c, *from); err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		os.Exit(1)
	}
}

// compare runs the tests directly and through a task, and prints how they ended. It fails where
// a test is lost on the way.
func compare(ctx context.Context, c checkout, from string) error {
	if from == "" {
		return fmt.Errorf("which checkout of microsoft/playwright? make compat PLAYWRIGHT=DIR")
	}
	dir, err := os.MkdirTemp("", "holdfast-compat-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c.dir = filepath.Join(dir, "playwright")
	if err := os.Mkdir(c.dir, 0o700); err != nil {
		return err
	}
	if err := copyCheckout(from, c.dir, "compat"); err != nil {
		return err
	}
	chrome, end, err := launch(ctx, filepath.Join(dir, "state"))
	if err != nil {
		return err
	}
	defer end()

	direct, err := c.run(ctx, "direct", chrome.Endpoint().Reveal())
	if err != nil {
		return err
	}
	fmt.Printf("directly: %v, of %d files\n", direct, len(c.files))
	direct.printFailures(os.Stdout)

	node, err := startNode(ctx, dir, chrome.Endpoint().Reveal())
	if err != nil {
		return err
	}
	through, err := c.run(ctx, "through", node.Address("ws", task, url.Values{"dialogs": {"client"}}))
	if log := node.Stop(); err != nil {
		return fmt.Errorf("%w\n%s", err, log)
	}
	fmt.Printf("through the gateway: %v\n", through)
	if lost := printDifferences(os.Stdout, direct, through); lost > 0 {
		return fmt.Errorf("%d tests pass directly and do not pass through the gateway", lost)
	}
	return nil
}

// task is the one that the tests go through.
const task = "compat"

// startNode starts a node with the task on the browser at a CDP address.
func startNode(ctx context.Context, dir, browser string) (*clients.Node, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	binary, err := clients.Build(ctx, dir)
	if err != nil {
		return nil, err
	}
	state := filepath.Join(dir, "node")
	if err := os.Mkdir(state, 0o700); err != nil {
		return nil, err
	}
	node, err := clients.StartNode(ctx, binary, state)
	if err != nil {
		return nil, err
	}
	if err := node.StartTask(ctx, task, browser, nil); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, node.Stop())
	}
	return node, nil
}

// launch starts the Chromium of both runs.
func launch(ctx context.Context, state string) (*browser.Process, func(), error) {
	m, err := browser.NewManager(browser.Options{StateDir: state, Transport: browser.TransportPort, Isolation: browser.IsolationOff})
	if err != nil {
		return nil, nil, err
	}
	p, err := m.Launch(ctx, browser.LaunchOptions{IsHeadless: true})
	end := func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := m.Close(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "compat: end Chromium:", err)
		}
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return p, end, nil
}
