package remoting_test

import (
	"crypto/tls"
	"slices"
	"testing"
	"time"

	"github.com/anthdm/hollywood/actor"
)

// BenchmarkRemoting is what a message of 100 bytes costs between two processes' engines: the time
// of a round trip, and messages a second one way, ours and stock.
func BenchmarkRemoting(b *testing.B) {
	body := actor.NewPID(string(make([]byte, 96)), "x")
	payload, unanswered := &actor.Ping{From: body}, &actor.Pong{From: body}
	for _, link := range []struct {
		name   string
		config *tls.Config
	}{{"plain", nil}, {"mtls", identity(b)}} {
		for _, pair := range []string{"ours-ours", "stock-ours", "ours-stock", "stock-stock"} {
			b.Run(pair+"/"+link.name, func(b *testing.B) {
				from, to := ends(b, pair, link.config)
				b.Run("roundtrip", func(b *testing.B) {
					var took []time.Duration
					for b.Loop() {
						start := time.Now()
						if _, err := from.Request(to, payload, patience).Result(); err != nil {
							b.Fatal(err)
						}
						took = append(took, time.Since(start))
					}
					slices.Sort(took)
					b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
					b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
				})
				b.Run("oneway", func(b *testing.B) {
					start := time.Now()
					for range b.N { // in lots: a queue has a bound, and what waits too long is dropped
						const lot = 10_000
						for range lot - 1 {
							from.Send(to, unanswered)
						}
						if _, err := from.Request(to, payload, patience).Result(); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(b.N)*10_000/time.Since(start).Seconds(), "msg/s")
				})
			})
		}
	}
}

func ends(b *testing.B, pair string, config *tls.Config) (from *actor.Engine, to *actor.PID) {
	b.Helper()
	switch pair {
	case "ours-ours":
		return open(b, config, nil).Engine, open(b, config, nil).pid()
	case "stock-ours":
		return stock(b, config), open(b, config, nil).pid()
	case "ours-stock":
		return open(b, config, nil).Engine, actor.NewPID(stock(b, config).Address(), "stock/echo")
	}
	return stock(b, config), actor.NewPID(stock(b, config).Address(), "stock/echo")
}
