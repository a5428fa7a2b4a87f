package holdfasttest

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"testing"

	"holdfast"
	"holdfast/internal/api"
	"holdfast/internal/artifact"
	"holdfast/internal/gate"
	"holdfast/internal/gateway"
	"holdfast/internal/node"
	"holdfast/internal/run"
	"holdfast/internal/token"
	"holdfast/messages"
)

// Start starts a node on a fake browser, and ends both with the test. The node's tasks
// attach to that browser, whatever their options say. It logs nothing.
func Start(t testing.TB, opts ...holdfast.Option) (*holdfast.Node, *Browser) {
	t.Helper()
	b := NewBrowser()
	t.Cleanup(b.Close)
	quiet := func(c *holdfast.Config) {
		c.StateDir, c.Log, c.Limits.MemoryHigh = t.TempDir(), slog.New(slog.DiscardHandler), -1
	}
	n, err := holdfast.Start(t.Context(), append([]holdfast.Option{quiet, b.Option()}, opts...)...)
	if err != nil {
		t.Fatalf("holdfasttest: %v", err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Errorf("holdfasttest: stop the node: %v", err)
		}
	})
	return n, b
}

// Server is a node on a fake browser behind HTTP, on a loopback port.
type Server struct {
	// URL is the node's, and Token its admin token: what package client needs.
	URL, Token string
	// Browser is what the node's tasks attach to.
	Browser *Browser
}

// Serve starts a node on a fake browser behind HTTP, and ends all of it with the test.
func Serve(t testing.TB) *Server {
	t.Helper()
	b := NewBrowser()
	t.Cleanup(b.Close)
	n, err := node.Start(t.Context(), node.Config{
		StateDir: t.TempDir(), Log: slog.New(slog.DiscardHandler), CDPURLOverride: b.url(), HTTPClient: b.listener.HTTPClient(),
		Limits: messages.Limits{MemoryHigh: -1},
	})
	if err != nil {
		t.Fatalf("holdfasttest: %v", err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Errorf("holdfasttest: stop the node: %v", err)
		}
	})
	admin := token.Generate()
	entrance, err := gate.New(gate.Config{Token: admin})
	if err != nil {
		t.Fatalf("holdfasttest: %v", err)
	}
	clients := gateway.New(gateway.Config{Node: n})
	scripts := run.New(run.OnGateway(clients))
	t.Cleanup(scripts.Close)
	files, err := artifact.New(t.TempDir(), artifact.DefaultBounds())
	if err != nil {
		t.Fatalf("holdfasttest: %v", err)
	}
	h, err := api.New(api.Config{Node: n, Gateway: clients, Scripts: scripts, Artifacts: files, Gate: entrance, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("holdfasttest: %v", err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		h.CloseStreams()
		s.Close()
	})
	return &Server{URL: s.URL, Token: admin.Reveal(), Browser: b}
}
