package holdfast_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"holdfast"
	"holdfast/chaos"
	"holdfast/messages"
	"holdfast/transport"
)

// BenchmarkDrop breaks the links of a thousand tasks on twenty fake browsers at
// once, and reports how long they were without one.
func BenchmarkDrop(b *testing.B) {
	const unlimited = 1 << 20
	for _, c := range []struct {
		name  string
		dials transport.RationLimits
	}{
		{"rationed", transport.DefaultRation},
		{"all at once", transport.RationLimits{Total: unlimited, Host: unlimited, Endpoint: unlimited}},
	} {
		b.Run(c.name, func(b *testing.B) { benchmarkDrop(b, c.dials) })
	}
}

func benchmarkDrop(b *testing.B, dials transport.RationLimits) {
	const tasks, browsers = 1000, 20
	ctx := b.Context()
	node, err := holdfast.Start(ctx, holdfast.Config{
		StateDir: b.TempDir(), Seed: 1, Dials: dials, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = node.Stop(ctx) }()
	fakes := make([]*chaos.Browser, browsers)
	urls := make([]messages.CDPURL, browsers)
	for i := range fakes {
		fakes[i] = chaos.New(chaos.Options{Seed: uint64(i + 1), Pages: 1})
		server := httptest.NewServer(fakes[i])
		defer server.Close()
		defer fakes[i].Close()
		if urls[i], err = messages.ParseCDPURL(fakes[i].URL(server.Listener.Addr().String())); err != nil {
			b.Fatal(err)
		}
	}
	var all sync.WaitGroup
	id := func(i int) messages.TaskID { return messages.TaskID(fmt.Sprint("t", i)) }
	for i := range tasks {
		all.Go(func() {
			if _, _, err := node.GetOrStart(ctx, id(i), messages.TaskSpec{CDPURL: urls[i%browsers]}); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	var gaps []int64
	for n := uint64(1); b.Loop() && !b.Failed(); n++ {
		for _, f := range fakes {
			f.DropConnections()
		}
		for i := range tasks {
			gaps = append(gaps, awaitReconnect(b, node, id(i), n))
		}
	}
	slices.Sort(gaps)
	for name, at := range map[string]int{"p50": len(gaps) / 2, "p99": len(gaps) * 99 / 100, "max": len(gaps) - 1} {
		b.ReportMetric(float64(gaps[at]), name+"-ms")
	}
}

// awaitReconnect returns for how long the n-th loss lasted, in milliseconds.
func awaitReconnect(b *testing.B, node *holdfast.Node, id messages.TaskID, n uint64) int64 {
	w, err := node.Watch(b.Context(), id, 0, false)
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	for {
		s, err := node.Snapshot(id, messages.SnapshotOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if s.Connection.Reconnects >= n && s.Connection.Primary == messages.LinkUp {
			return s.Connection.LastGapMS
		}
		if _, err := w.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
