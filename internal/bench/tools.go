package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"holdfast/internal/bench/figure"
	"holdfast/internal/bench/stage"
	"holdfast/internal/bench/worker"
)

// Names of the MCP servers beside ours.
const (
	agentBrowser  = "agent-browser"
	playwrightMCP = "@playwright/mcp"
)

// agentCall is one call of a tool.
type agentCall struct {
	tool  string
	input map[string]any
}

// agentServer is an MCP server over stdio, and its calls for what is measured.
type agentServer struct {
	name     string
	cmd      *exec.Cmd
	ready    []agentCall
	goTo     func(url string) agentCall
	evaluate agentCall
	snapshot agentCall

	session *mcp.ClientSession
}

// agentServers are ours and the best two of the others, on one browser.
func (b *bench) agentServers(binary, address, dir string) []*agentServer {
	modules := filepath.Join(b.root, "internal/bench/node/node_modules")
	return []*agentServer{
		{
			name: worker.Holdfast, cmd: exec.Command(binary, "mcp", "--tools", "all", "--cdp-url", address),
			goTo:     func(url string) agentCall { return agentCall{"browser_navigate", map[string]any{"url": url}} },
			evaluate: agentCall{"browser_evaluate", map[string]any{"expression": "6 * 7"}},
			snapshot: agentCall{"browser_snapshot", map[string]any{"max_chars": 1_000_000}},
		},
		{
			name: agentBrowser, cmd: exec.Command("node", filepath.Join(modules, "agent-browser/bin/agent-browser.js"), "mcp", "--tools", "all"),
			ready:    []agentCall{{"agent_browser_connect", map[string]any{"target": address}}, {"agent_browser_tab_new", map[string]any{}}},
			goTo:     func(url string) agentCall { return agentCall{"agent_browser_open", map[string]any{"url": url}} },
			evaluate: agentCall{"agent_browser_eval", map[string]any{"script": "6 * 7"}},
			snapshot: agentCall{"agent_browser_snapshot", map[string]any{"full": true}},
		},
		{
			name: playwrightMCP, cmd: exec.Command("node", filepath.Join(modules, "@playwright/mcp/cli.js"), "--cdp-endpoint", address, "--output-dir", dir),
			ready:    []agentCall{{"browser_tabs", map[string]any{"action": "new"}}},
			goTo:     func(url string) agentCall { return agentCall{"browser_navigate", map[string]any{"url": url}} },
			evaluate: agentCall{"browser_evaluate", map[string]any{"function": "() => 6 * 7"}},
			snapshot: agentCall{"browser_snapshot", map[string]any{}},
		},
	}
}

// start connects to the server, and has it open a tab.
func (s *agentServer) start(ctx context.Context, dir string) error {
	s.cmd.Dir, s.cmd.Env = dir, append(os.Environ(), "HOME="+dir, "HOLDFAST_STATE_DIR="+filepath.Join(dir, "state"))
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	var err error
	if s.session, err = client.Connect(ctx, &mcp.CommandTransport{Command: s.cmd, TerminateDuration: time.Second}, nil); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	for _, c := range append(s.ready, s.goTo("about:blank")) {
		if _, _, err := s.call(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// call returns the words of the answer, and the milliseconds it took.
func (s *agentServer) call(ctx context.Context, c agentCall) (string, float64, error) {
	begun := time.Now()
	r, err := s.session.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: c.input})
	took := float64(time.Since(begun).Microseconds()) / 1000
	var text strings.Builder
	if err == nil {
		for _, c := range r.Content {
			if t, ok := c.(*mcp.TextContent); ok {
				text.WriteString(t.Text)
			}
		}
		if r.IsError {
			err = fmt.Errorf("%s: %.200s", c.tool, text.String())
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", s.name, err)
	}
	return text.String(), took, err
}

// median is that of n calls in a row.
func (s *agentServer) median(ctx context.Context, n int, c agentCall) (float64, error) {
	took := make([]float64, n)
	for i := range took {
		var err error
		if _, took[i], err = s.call(ctx, c); err != nil {
			return 0, err
		}
	}
	slices.Sort(took)
	return took[n/2], nil
}

// toolPage is how large the page of the snapshots is.
const toolPage = "nodes=3000&iframes=2"

// tools is what agents' tools cost over MCP, beside other servers.
func (b *bench) tools() ([]figure.Table, error) {
	ctx := context.Background()
	binary, err := b.product()
	if err != nil {
		return nil, err
	}
	chrome, err := b.chromium()
	if err != nil {
		return nil, err
	}
	site, err := stage.ServeSite()
	if err != nil {
		return nil, err
	}
	b.later(site.Close)
	servers := b.agentServers(binary, chrome.URL(), "")
	for _, s := range servers {
		dir, err := os.MkdirTemp("", "hf-bench-")
		if err != nil {
			return nil, err
		}
		b.later(func() { _ = os.RemoveAll(dir) })
		if err := s.start(ctx, dir); err != nil {
			return nil, err
		}
		b.later(func() { _ = s.session.Close() })
	}
	evaluate := figure.Table{Title: "An evaluate over stdio, the median of a round", Unit: "ms", Floor: agentBrowser}
	look := figure.Table{Title: "A snapshot of 3,000 elements and two frames in processes of their own", Unit: "ms", Floor: playwrightMCP}
	if evaluate.Rows, err = besideServers(ctx, servers, agentBrowser, 0.1, func(s *agentServer) agentCall { return s.evaluate }); err != nil {
		return nil, err
	}
	for _, s := range servers {
		if _, _, err := s.call(ctx, s.goTo(site.Page(toolPage))); err != nil {
			return nil, err
		}
	}
	if look.Rows, err = besideServers(ctx, servers, playwrightMCP, 0.5, func(s *agentServer) agentCall { return s.snapshot }); err != nil {
		return nil, err
	}
	own, err := ownTools(ctx, servers[0], site, evaluate.Rows[0].Value, look.Rows[0].Value)
	if err != nil {
		return nil, err
	}
	memory, err := scriptMemory(ctx, servers[0])
	if err != nil {
		return nil, err
	}
	return []figure.Table{evaluate, look, own, memory}, nil
}

// callsInARound is how often a server has its turn in a round; one of them takes a second each time.
const callsInARound = 5

// besideServers times a call of each server, round by round, to that of one of them.
func besideServers(ctx context.Context, servers []*agentServer, floor string, goal float64, what func(*agentServer) agentCall) ([]figure.Row, error) {
	samples := map[string]figure.Samples{}
	for round := range rounds + 1 {
		for _, s := range servers {
			took, err := s.median(ctx, callsInARound, what(s))
			if err != nil {
				return nil, err
			}
			if round > 0 {
				samples[s.name] = append(samples[s.name], took)
			}
		}
	}
	var rows []figure.Row
	for _, s := range servers {
		r := figure.Row{Name: s.name, Value: samples[s.name], Ratio: samples[s.name].Over(samples[floor])}
		if s.name == worker.Holdfast {
			r.Ours, r.Goal = true, figure.RatioAtMost(goal)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// ownTools are calls for which there is a bound in time.
func ownTools(ctx context.Context, s *agentServer, site *stage.Site, evaluate, look figure.Samples) (figure.Table, error) {
	t := figure.Table{Title: "Calls of holdfast over stdio", Unit: "ms", Rows: []figure.Row{
		{Name: "browser_evaluate", Value: evaluate, Goal: figure.ValueAtMost(2), Ours: true},
		{Name: "browser_snapshot of that page", Value: look, Goal: figure.ValueAtMost(60), Ours: true},
	}}
	if _, _, err := s.call(ctx, s.goTo(site.Page("nodes=10"))); err != nil {
		return t, err
	}
	text, _, err := s.call(ctx, s.snapshot)
	if err != nil {
		return t, err
	}
	_, ref, _ := strings.Cut(text, `button "Button 1" [`)
	ref, _, _ = strings.Cut(ref, "]")
	click := agentCall{"browser_click", map[string]any{"ref": ref}}
	run := agentCall{"browser_run", map[string]any{"code": "return 1"}}
	var clicks, runs figure.Samples
	for round := range rounds + 1 {
		_, first, err := s.call(ctx, click)
		if err != nil {
			return t, err
		}
		_, second, err := s.call(ctx, s.snapshot)
		if err != nil {
			return t, err
		}
		ran, err := s.median(ctx, 5, run)
		if err != nil {
			return t, err
		}
		if round > 0 {
			clicks, runs = append(clicks, first+second), append(runs, ran)
		}
	}
	t.Rows = append(t.Rows,
		figure.Row{Name: "browser_click by ref and the next browser_snapshot", Value: clicks, Goal: figure.ValueAtMost(50), Ours: true, Note: "a page of ten buttons"},
		figure.Row{Name: "browser_run of return 1", Value: runs, Goal: figure.ValueAtMost(10), Ours: true, Note: "warm"})
	return t, nil
}

// scriptsAtOnce is how many scripts run while their memory is read.
const scriptsAtOnce = 4

// scriptMemory is what a running script adds to the node's memory.
func scriptMemory(ctx context.Context, s *agentServer) (figure.Table, error) {
	t := figure.Table{Title: "Memory of a running script", Unit: "MiB"}
	before, err := residentMiB(s.cmd.Process.Pid)
	if err != nil {
		return t, err
	}
	var each figure.Samples
	for range 3 {
		var all sync.WaitGroup
		failed := make([]error, scriptsAtOnce)
		for i := range scriptsAtOnce {
			all.Go(func() {
				_, _, failed[i] = s.call(ctx, agentCall{"browser_run", map[string]any{"code": "await wait(1500); return page.url()"}})
			})
		}
		time.Sleep(time.Second) // they are all within their wait
		now, err := residentMiB(s.cmd.Process.Pid)
		all.Wait()
		for _, f := range append(failed, err) {
			if f != nil {
				return t, f
			}
		}
		each = append(each, max(now-before, 0)/scriptsAtOnce)
	}
	t.Rows = []figure.Row{{Name: worker.Holdfast, Value: each, Goal: figure.ValueAtMost(20), Ours: true, Note: fmt.Sprintf("%d at once", scriptsAtOnce)}}
	return t, nil
}

// residentMiB is the resident memory of a process.
func residentMiB(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("process %d has no VmRSS", pid)
}
