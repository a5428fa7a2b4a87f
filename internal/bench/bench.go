package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
)

// rounds is how often every client has its turn: enough for a sign test to tell a
// difference from noise, and odd, so that the median has been measured.
const rounds = 9

// bench is what measurements share.
type bench struct {
	self string // this program
	root string // the repository
	node string // the product's binary, as make build makes it; "" until asked for

	profiled int    // processes with a profile
	browser  string // the real one's version, where it was used
	undo     []func()
}

// measurements are in the order in which they run.
var measurements = []struct {
	name, what string
	run        func(*bench) ([]figure.Table, error)
}{
	{"roundtrip", "Runtime.evaluate on a real Chromium", (*bench).roundtrip},
	{"roundtrip-fake", "Runtime.evaluate on the fake browser", (*bench).roundtripFake},
	{"gateway", "Runtime.evaluate through the gateway", (*bench).gateway},
	{"gateway-connect", "Playwright's connect through the gateway", (*bench).gatewayConnect},
	{"gateway-events", "events through the gateway", (*bench).gatewayEvents},
	{"gateway-crowd", "events through the gateway to ten clients with different subscriptions", (*bench).gatewayCrowd},
	{"gateway-deaf", "a client of the gateway that does not read", (*bench).gatewayDeaf},
	{"gateway-memory", "what an idle client of the gateway costs", (*bench).gatewayMemory},
	{"intake", "unwanted events", (*bench).intake},
	{"changes", "events that change what is known", (*bench).changes},
	{"counting", "allocations of what is counted", (*bench).counting},
	{"memory", "what an idle task costs, and a connection of others", (*bench).memory},
	{"memory-5000", "a task of 5,000", (*bench).memory5000},
	{"dialog", "a dialog seen and answered", (*bench).dialog},
	{bridgeName, "what makes a page wait, and what that costs", (*bench).bridge},
	{"attach", "a task's start on a real Chromium", (*bench).attach},
	{"drop", "a cut connection to a real Chromium", (*bench).drop},
	{"stampede", "a thousand cut connections", (*bench).stampede},
	{"stampede-frames", "the same with iframes", (*bench).stampedeFrames},
	{"start", "a node's start", (*bench).start},
	{"launch", "the start of a task that launches Chromium", (*bench).launch},
	{"size", "the binary", (*bench).size},
	{"snapshot", "reading a task's state", (*bench).snapshot},
	{"tools", "tools for agents over MCP", (*bench).tools},
}

// measure runs one measurement and undoes what it has set up.
func (b *bench) measure(name string, run func(*bench) ([]figure.Table, error)) (figure.Measurement, error) {
	begun := time.Now()
	b.browser = ""
	tables, err := run(b)
	for i := len(b.undo) - 1; i >= 0; i-- {
		b.undo[i]()
	}
	b.undo = nil
	if err != nil {
		return figure.Measurement{}, fmt.Errorf("%s: %w", name, err)
	}
	return figure.Measurement{Name: name, Source: b.source(), Took: time.Since(begun).Seconds(), Tables: tables}, nil
}

func (b *bench) later(undo func()) { b.undo = append(b.undo, undo) }

// fakes starts the process of the fake browsers, for the current measurement.
func (b *bench) fakes() (*stage.Fakes, error) {
	f, err := stage.StartFakes(b.self, b.profile("fakes"))
	if err == nil {
		b.later(f.End)
	}
	return f, err
}

// chromium starts a real browser, for the current measurement.
func (b *bench) chromium() (*stage.Chromium, error) {
	c, err := stage.LaunchChromium()
	if err != nil {
		return nil, err
	}
	b.browser = c.Version
	b.later(func() {
		if err := c.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "end Chromium:", err)
		}
	})
	return c, nil
}

// product builds the binary once.
func (b *bench) product() (string, error) {
	if b.node != "" {
		return b.node, nil
	}
	dir, err := os.MkdirTemp("", "hf-bench-")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("make", "-s", "-C", b.root, "build", "BINARY="+filepath.Join(dir, "holdfast"))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make build: %w\n%s", err, out)
	}
	b.node = filepath.Join(dir, "holdfast")
	return b.node, nil
}

// source says what is being measured, and on what.
func (b *bench) source() figure.Source {
	return figure.Source{
		Commit: b.commit(), Go: runtime.Version(), Browser: b.browser,
		Machine: fmt.Sprintf("%d × %s, %s", runtime.NumCPU(), processor(), runtime.GOARCH),
	}
}

// commit is what is checked out; dirty where that has been changed since, but for
// what the bench writes itself.
func (b *bench) commit() string {
	head, err := exec.Command("git", "-C", b.root, "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	changed, err := exec.Command("git", "-C", b.root, "status", "--porcelain", "--", ".", ":!docs").Output()
	if err != nil || len(changed) > 0 {
		return strings.TrimSpace(string(head)) + "-dirty"
	}
	return strings.TrimSpace(string(head))
}

// processor is what the kernel calls the first one.
func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "CPU"
	}
	for line := range strings.Lines(string(b)) {
		if key, name, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(name)
		}
	}
	return "CPU"
}
