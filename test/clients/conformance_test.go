package clients

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestMCPConformance: the protocol's own suite finds nothing at /mcp but what its example server
// alone has (programs/conformance.yml). The suite speaks HTTP only.
func TestMCPConformance(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	node, err := url.Parse(n.URL)
	if err != nil {
		t.Fatal(err)
	}
	// The suite can send no token, so something between has it.
	var between *httptest.Server
	between = httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(node)
		r.Out.Header.Set("Authorization", "Bearer "+n.Token)
		r.Out.Host = r.In.Host
		if strings.HasSuffix(between.URL, r.In.Host) {
			r.Out.Host = node.Host
		}
		if r.In.Header.Get("Origin") == between.URL {
			r.Out.Header.Set("Origin", n.URL)
		}
	}})
	t.Cleanup(between.Close)
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "node", "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server",
		"--url", between.URL+"/mcp", "--suite", "all", "--expected-failures", "conformance.yml", "--output-dir", t.TempDir())
	c.Dir = "programs"
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, scenario := range []string{"server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "logging-set-level", "server-sse-multiple-streams", "dns-rebinding-protection"} {
		if !strings.Contains(string(out), "✓ "+scenario+": ") {
			t.Errorf("%s has not passed:\n%s", scenario, out)
		}
	}
}
