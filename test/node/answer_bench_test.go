package node_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"holdfast/chaos"
	"holdfast/internal/node"
	"holdfast/messages"
)

// BenchmarkAnswerUnderFlood is how long an agent waits for its answer to a dialog, while each
// page of the task reports a burst of console errors and navigations of frames.
func BenchmarkAnswerUnderFlood(b *testing.B) {
	const pages, burst = 4, 3000
	ctx := context.Background()
	node, err := node.Start(ctx, node.Config{StateDir: b.TempDir(), Seed: 1, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = node.Stop(ctx) }()
	fake := chaos.New(chaos.Options{Seed: 1, Pages: pages})
	server := httptest.NewServer(fake)
	defer server.Close()
	defer fake.Close()
	u, err := messages.ParseCDPURL(fake.URL(server.Listener.Addr().String()))
	if err != nil {
		b.Fatal(err)
	}
	// Without the anchor, so that each page's events are said once.
	spec := messages.TaskSpec{CDPURL: u, Scope: messages.ScopeBrowser, DialogPolicy: messages.PolicyMustRespond, Anchor: messages.AnchorNone}
	snap, _, err := node.GetOrStart(ctx, "t", spec)
	if err != nil {
		b.Fatal(err)
	}
	conn := fake.Connections()[0]
	serial := 0
	flood := func() (last string) {
		for range burst {
			for _, p := range snap.Pages {
				serial++
				session := fake.Sessions(p.TargetID)[0].ID
				last = fmt.Sprintf("e%09d", serial)
				if serial/pages%2 == 0 {
					conn.SendRaw(fmt.Appendf(nil, `{"method":"Runtime.consoleAPICalled","params":{"type":"error","args":[{"type":"string","value":%q}],"executionContextId":1,"timestamp":%d},"sessionId":%q}`, last, 1700000000000+serial, session))
				} else {
					conn.SendRaw(fmt.Appendf(nil, `{"method":"Page.frameNavigated","params":{"type":"Navigation","frame":{"id":%q,"loaderId":%q,"url":"http://a.test/%s","domainAndRegistry":"a.test","securityOrigin":"http://a.test","mimeType":"text/html","secureContextType":"InsecureScheme","crossOriginIsolatedContextType":"NotIsolated","gatedAPIFeatures":[]}},"sessionId":%q}`, fake.MainFrame(p.TargetID), last, last, session))
				}
			}
		}
		return last
	}
	wait := func(what string, is func(s *messages.Snapshot) bool) {
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			s, err := node.Snapshot("t", messages.SnapshotOptions{})
			if err == nil && is(s) {
				return
			}
			if time.Now().After(end) {
				b.Fatalf("no %s: %v", what, err)
			}
		}
	}
	var took []time.Duration
	for b.Loop() {
		b.StopTimer()
		wait("end of the dialog before", func(s *messages.Snapshot) bool { return len(s.PendingDialogs) == 0 })
		fake.OpenDialog(fake.MainFrame(snap.Pages[0].TargetID), chaos.Confirm, "well?", "")
		wait("dialog", func(s *messages.Snapshot) bool { return len(s.PendingDialogs) == 1 })
		flood()
		b.StartTimer()
		began := time.Now()
		closed, err := node.Respond(ctx, "t", messages.DialogAnswer{Action: messages.ActionAccept})
		took = append(took, time.Since(began))
		if err != nil || closed.ClosedBy != messages.ClosedByAgent {
			b.Fatalf("%+v, %v", closed, err)
		}
		b.StopTimer()
		time.Sleep(50 * time.Millisecond) // the rest of the burst is not measured
		b.StartTimer()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs")
}
