package cli_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"holdfast/internal/cli"
	"holdfast/messages"
)

const (
	mcpBegin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"old","version":"1"}}}` + "\n"
	mcpList  = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"browser_task_list","arguments":{}}}` + "\n"
)

// mcpAnswers are the lines of standard output by the id of the call. Each has to be a message.
func mcpAnswers(t *testing.T, out string) map[int]string {
	t.Helper()
	all := map[int]string{}
	for line := range strings.Lines(out) {
		var m struct {
			Version string `json:"jsonrpc"`
			ID      int
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			t.Errorf("no message of MCP: %q", line)
		}
		all[m.ID] = line
	}
	return all
}

func TestMCPStartsANodeWhereNoneRuns(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.stdin = mcpBegin + mcpList
	out, errs := m.want(0, "mcp", "--tools", "all", "--chrome", "/opt/chrome")
	got := mcpAnswers(t, out)
	if len(got) != 2 || !strings.Contains(got[2], "No tasks.") || errs != "" {
		t.Errorf("out %q, err %q", out, errs)
	}
	if m.stopped != 1 || m.config.Browser.Path != "/opt/chrome" {
		t.Errorf("stopped %d times, browser %q", m.stopped, m.config.Browser.Path)
	}
}

func TestMCPUsesTheNodeThatRuns(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.node.List = []*messages.Snapshot{{TaskID: "shop", State: messages.StateActive}}
	m.serve()
	m.stdin = mcpBegin + mcpList
	started := m.config.Logger
	out, _ := m.want(0, "mcp", "--tools", "all")
	if got := mcpAnswers(t, out); !strings.Contains(got[2], "shop active") || m.config.Logger != started {
		t.Errorf("%v", got)
	}
}

func TestMCPThatCannotBegin(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"mcp --tools bogus":     2,
		"mcp --profile bogus":   2,
		"mcp --task a/b":        2,
		"mcp --cdp-url ftp://h": 2,
		"mcp --cdp-url ws://h/devtools/browser/x --headful": 2,
		"mcp --node http://127.0.0.1:1":                     3,
		"mcp extra":                                         2,
	} {
		m := newMachine(t)
		m.stdin = mcpBegin
		if out, errs := m.want(want, strings.Fields(line)...); out != "" || errs == "" {
			t.Errorf("%s: out %q, err %q", line, out, errs)
		}
	}
	m := newMachine(t)
	m.started = func(*cli.RunningNode) error { return messages.Errorf(messages.CodeUpstreamUnavailable, "no browser") }
	if out, errs := m.want(1, "mcp"); out != "" || !strings.Contains(errs, "no browser") {
		t.Errorf("out %q, err %q", out, errs)
	}
}

func TestTool(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.node.List = []*messages.Snapshot{{TaskID: "shop", State: messages.StateActive, Active: true}}
	var started messages.TaskID
	m.node.GetOrStartFunc = func(_ context.Context, id messages.TaskID, _ messages.TaskSpec) (*messages.Snapshot, bool, error) {
		started = id
		return &messages.Snapshot{TaskID: id}, true, nil
	}
	m.serve()
	t.Run("lists", func(t *testing.T) {
		out, _ := m.want(0, "tool")
		full, _ := m.want(0, "tool", "--full")
		if !strings.Contains(out, "browser_navigate ") || strings.Contains(out, "wait_until") || !strings.Contains(full, `"wait_until"`) {
			t.Errorf("%s\n%s", out, full)
		}
		var list messages.ToolList
		if out, _ := m.want(0, "tool", "--json"); json.Unmarshal([]byte(out), &list) != nil || len(list.Tools) < 5 {
			t.Error(out)
		}
	})
	t.Run("runs one", func(t *testing.T) {
		if out, _ := m.want(0, "tool", "shop", "browser_task_list"); out != "shop active\n" {
			t.Errorf("%q", out)
		}
		var r messages.ToolResult
		if out, _ := m.want(0, "tool", "shop", "browser_task_list", "{}", "--json"); json.Unmarshal([]byte(out), &r) != nil || !r.OK {
			t.Errorf("%q", out)
		}
		m.stdin = `{"task":"shop"}`
		if out, _ := m.want(0, "tool", "shop", "browser_task_list", "-"); out != "shop active\n" {
			t.Errorf("%q", out)
		}
	})
	t.Run("says why one failed", func(t *testing.T) {
		if out, errs := m.want(1, "tool", "shop", "browser_clik"); out != "" || !strings.HasPrefix(errs, "not_found: ") {
			t.Errorf("out %q, err %q", out, errs)
		}
		if _, errs := m.want(1, "tool", "shop", "browser_navigate", `{"uri":"x"}`); !strings.HasPrefix(errs, "invalid_argument: ") {
			t.Errorf("err %q", errs)
		}
	})
	t.Run("starts the task where it is told to", func(t *testing.T) {
		m.want(0, "tool", "fresh", "browser_task_list", "--start")
		if started != "fresh" {
			t.Errorf("started %q", started)
		}
	})
	for _, line := range []string{"tool shop", "tool a/b browser_click", "tool shop browser_click {", "tool shop browser_click []", "tool shop browser_click {} {}"} {
		m.want(2, strings.Fields(line)...)
	}
}
