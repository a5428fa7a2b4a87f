package clients

import (
	"context"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
)

// mcpClients are clients of the Model Context Protocol, and what each of their steps returns.
var mcpClients = []struct {
	Program
	want map[string]string
}{
	{Program{Client: "mcp-sdk", file: "mcpsdk.mjs"}, map[string]string{
		"connect":  `"holdfast"`,
		"tools":    `true`,
		"navigate": `"client"`,
		"dialog":   `["blocked_by_dialog","browser_dialog","ann"]`,
		"error":    `"script_error"`,
		"unknown":  `"invalid_argument"`,
		"updates":  `"news"`,
		"progress": `[1]`,
		"cancel":   `["cancelled",42]`,
		"http":     `["client",true]`,
		"close":    `"closed"`,
	}},
	{Program{Client: "ai-sdk", file: "aisdk.mjs"}, map[string]string{
		"connect": `true`,
		"dialog":  `[true,"blocked_by_dialog","ann"]`,
		"http":    `"client"`,
		"close":   `"closed"`,
	}},
}

// TestMCPClients: clients of MCP, unmodified, drive a task over stdio, with a node within the
// process, and over HTTP.
func TestMCPClients(t *testing.T) {
	t.Parallel()
	site, chrome, n := serve(t), chromiumtest.Shared(t), startNode(t)
	startTask(t, n, "ai", chrome.WS())
	for _, c := range mcpClients {
		t.Run(c.Client, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
			defer cancel()
			lines, err := c.lines(ctx, Place{
				WS: chrome.WS(), HTTP: chrome.HTTP(), Page: site.URL("http://a.test/client"), Dir: t.TempDir(),
				Binary: n.binary, State: t.TempDir(), MCP: n.URL + "/mcp", Token: n.Token,
			})
			if err != nil {
				t.Error(err)
			}
			got := map[string]string{}
			for _, l := range lines {
				got[l.Step] = string(l.Value)
				if l.Error != "" {
					t.Errorf("%s: %s", l.Step, l.Error)
				}
			}
			for step, want := range c.want {
				if got[step] != want {
					t.Errorf("%s: %s, want %s", step, got[step], want)
				}
			}
		})
	}
}
