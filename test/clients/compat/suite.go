package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// files are the tests that drive a page over CDP, below the folder tests of the checkout:
// dialogs, popups, frames, out-of-process frames, workers, network, routing, evaluation,
// keyboard, cookies.
var files = []string{
	"page/page-dialog", "page/page-event-popup", "library/popup",
	"page/frame-evaluate", "page/frame-goto", "page/frame-hierarchy", "library/chromium/oopif",
	"page/workers",
	"page/page-event-network", "page/page-event-request", "page/page-network-request", "page/page-network-response",
	"page/page-route", "page/page-request-continue", "page/page-request-fulfill", "page/interception",
	"page/page-evaluate", "page/page-keyboard",
	"library/browsercontext-cookies", "library/browsercontext-add-cookies",
}

// checkout is a copy of the parts of a checkout of Playwright that its tests need.
type checkout struct {
	dir     string
	files   []string
	grep    string
	timeout time.Duration // of one test
}

// copyCheckout copies the tests of the checkout at from into dir and puts the installed
// packages beside them, as a build of the checkout would.
func copyCheckout(from, dir, packages string) error {
	if _, err := os.Stat(filepath.Join(from, "tests", "page", "pageTest.ts")); err != nil {
		return fmt.Errorf("no checkout of microsoft/playwright: %w", err)
	}
	if err := os.CopyFS(filepath.Join(dir, "tests"), os.DirFS(filepath.Join(from, "tests"))); err != nil {
		return err
	}
	config, err := os.ReadFile(filepath.Join(packages, "playwright.config.mjs"))
	if err != nil {
		return err
	}
	modules, err := filepath.Abs(filepath.Join(packages, "node_modules"))
	if err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "playwright.config.mjs"), config, 0o600),
		os.Mkdir(filepath.Join(dir, "packages"), 0o700),
		os.Symlink(modules, filepath.Join(dir, "node_modules")),
		os.Symlink(filepath.Join(modules, "playwright-core"), filepath.Join(dir, "packages", "playwright-core")),
	)
}

// run runs the tests on the browser at a CDP address and returns how they ended. What
// Playwright prints goes to standard error.
func (c checkout) run(ctx context.Context, name, address string) (outcomes, error) {
	report := filepath.Join(c.dir, name+".json")
	args := []string{filepath.Join(c.dir, "node_modules/@playwright/test/cli.js"), "test", "--config", filepath.Join(c.dir, "playwright.config.mjs")}
	if c.grep != "" {
		args = append(args, "--grep", c.grep)
	}
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(),
		"FORCE_COLOR=0", "PWTEST_UNDER_TEST=1", // the tests look for what Playwright shows under test alone
		"COMPAT_ENDPOINT="+address,
		"COMPAT_REPORT="+report,
		"COMPAT_OUTPUT="+filepath.Join(c.dir, "results-"+name),
		"COMPAT_FILES="+strings.Join(c.files, " "),
		fmt.Sprintf("COMPAT_TIMEOUT=%d", c.timeout.Milliseconds()),
	)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = time.Minute
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return readReport(report)
}
