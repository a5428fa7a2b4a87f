package tracing_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"holdfast/internal/tracing"
)

// receiver is a collector: it takes OTLP over HTTP and keeps it.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	got  []*collector.ExportTraceServiceRequest
	gate chan struct{} // not nil: a request waits for it
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.gate != nil {
			<-r.gate
		}
		var body io.Reader = req.Body
		if req.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(req.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		raw, err := io.ReadAll(body)
		m := new(collector.ExportTraceServiceRequest)
		if err == nil {
			err = proto.Unmarshal(raw, m)
		}
		if err != nil || req.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", req.URL.Path, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.got = append(r.got, m)
	}))
	t.Cleanup(r.Close)
	return r
}

// spans are the names of all that came, and the resource's attributes.
func (r *receiver) spans() (names []string, resource map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	resource = map[string]string{}
	for _, m := range r.got {
		for _, rs := range m.ResourceSpans {
			for _, a := range rs.Resource.Attributes {
				resource[a.Key] = a.Value.GetStringValue()
			}
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					names = append(names, s.Name)
				}
			}
		}
	}
	return names, resource
}

// buffer is a log that several goroutines write.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// start is a provider under the standard variables given; the SDK reads them
// from the process.
func start(t *testing.T, endpoint string, env ...string) (*tracing.Provider, *buffer, *atomic.Int64) {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
	for i := 0; i < len(env); i += 2 {
		t.Setenv(env[i], env[i+1])
	}
	log, dropped := &buffer{}, new(atomic.Int64)
	p, err := tracing.Start(t.Context(), "v1.2.3", slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	p.CountDropped(func(n int) { dropped.Add(int64(n)) })
	return p, log, dropped
}

func shut(t *testing.T, p *tracing.Provider, limit time.Duration) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return p.Shutdown(ctx)
}

func TestSpansAreSent(t *testing.T) {
	r := newReceiver(t)
	p, log, dropped := start(t, r.URL, "OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
	ctx, outer := p.Tracer("test").Start(t.Context(), "outer")
	_, inner := p.Tracer("test").Start(ctx, "inner", trace.WithAttributes(attribute.String("holdfast.task", "t")))
	inner.End()
	outer.End()
	if err := shut(t, p, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	names, resource := r.spans()
	if strings.Join(names, " ") != "inner outer" {
		t.Errorf("spans %q", names)
	}
	if resource["service.name"] != "holdfast" || resource["service.version"] != "v1.2.3" || resource["deployment.environment"] != "test" {
		t.Errorf("resource %v", resource)
	}
	// The SDK's error handler is the process's: another test's collector may be in it.
	if dropped.Load() != 0 || strings.Contains(log.String(), r.URL) {
		t.Errorf("%d dropped: %s", dropped.Load(), log)
	}
}

func TestStandardVariablesAreObeyed(t *testing.T) {
	r := newReceiver(t)
	p, _, _ := start(t, r.URL, "OTEL_SERVICE_NAME", "mine", "OTEL_TRACES_SAMPLER", "parentbased_always_off")
	_, alone := p.Tracer("test").Start(t.Context(), "alone")
	alone.End()
	sampled := trace.ContextWithRemoteSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}, TraceFlags: trace.FlagsSampled,
	}))
	_, child := p.Tracer("test").Start(sampled, "child")
	child.End()
	if err := shut(t, p, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	names, resource := r.spans()
	if strings.Join(names, " ") != "child" || resource["service.name"] != "mine" {
		t.Errorf("spans %q of %v", names, resource)
	}
}

// deadEndpoint is an address without a listener.
func deadEndpoint(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://planted:secret@" + l.Addr().String()
}

func TestADeadCollector(t *testing.T) {
	const made = 20_000
	p, log, dropped := start(t, deadEndpoint(t), "OTEL_BSP_MAX_QUEUE_SIZE", "1000", "OTEL_BSP_SCHEDULE_DELAY", "1")
	begin := time.Now()
	for range made {
		_, s := p.Tracer("test").Start(t.Context(), "a span")
		s.End()
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("%d spans took %v", made, took)
	}
	if n := dropped.Load(); n < made-1000-1 || n > made {
		t.Errorf("%d of %d were dropped", n, made)
	}
	begin = time.Now()
	err := shut(t, p, 500*time.Millisecond)
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the end took %v", took)
	}
	if err == nil && dropped.Load() != made {
		t.Errorf("nobody took the spans, and %d of %d were dropped", dropped.Load(), made)
	}
	if n := strings.Count(log.String(), "\n"); n < 1 || n > 3 {
		t.Errorf("%d lines: %s", n, log)
	}
	if strings.Contains(log.String(), "secret") || err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("leaked: %s %v", log, err)
	}
}

func TestACollectorThatHangs(t *testing.T) {
	r := newReceiver(t)
	r.gate = make(chan struct{})
	p, _, dropped := start(t, r.URL, "OTEL_BSP_MAX_QUEUE_SIZE", "100", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "50", "OTEL_BSP_SCHEDULE_DELAY", "1")
	for range 1000 {
		_, s := p.Tracer("test").Start(t.Context(), "a span")
		s.End()
	}
	if n := dropped.Load(); n != 900 {
		t.Errorf("%d of 1000 were dropped, for 100 there is room", n)
	}
	begin := time.Now()
	if err := shut(t, p, 200*time.Millisecond); err == nil || time.Since(begin) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
	close(r.gate)
}
