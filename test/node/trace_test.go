package node_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"holdfast/chaos"
	"holdfast/internal/api"
	"holdfast/internal/gate"
	"holdfast/internal/node"
	"holdfast/internal/token"
	"holdfast/messages"
)

// traced is a node whose spans are kept, with its HTTP interface.
type traced struct {
	*world
	spans   *tracetest.InMemoryExporter
	handler http.Handler
	admin   token.Admin
}

func inTracedWorld(t *testing.T, name string, story func(w *traced)) {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	inWorldWith(t, name, chaos.Options{Pages: 1}, func(c *node.Config) { c.TracerProvider = provider }, func(w *world) {
		tr := &traced{world: w, spans: spans, admin: token.Generate()}
		entrance, err := gate.New(gate.Config{Token: tr.admin})
		if err != nil {
			w.Fatal(err)
		}
		handler, err := api.New(api.Config{Node: w.node, Gate: entrance, TracerProvider: provider})
		if err != nil {
			w.Fatal(err)
		}
		tr.handler = handler
		defer handler.CloseStreams()
		story(tr)
	})
}

func (w *traced) call(method, path, body string, header ...string) int {
	w.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "127.0.0.1"
	r.Header.Set("Authorization", "Bearer "+w.admin.Reveal())
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	w.handler.ServeHTTP(rec, r)
	return rec.Code
}

// tree draws the spans of a trace, siblings in the order they began.
func (w *traced) tree(trace string) string {
	synctest.Wait()
	var all []tracetest.SpanStub
	for _, s := range w.spans.GetSpans() {
		if s.SpanContext.TraceID().String() == trace || trace == "" {
			all = append(all, s)
		}
	}
	var out strings.Builder
	var draw func(parent, indent string)
	draw = func(parent, indent string) {
		for _, s := range all {
			if s.Parent.SpanID().String() != parent {
				continue
			}
			var attrs []string
			for _, a := range s.Attributes {
				attrs = append(attrs, strings.TrimPrefix(string(a.Key), "holdfast.")+"="+a.Value.String())
			}
			slices.Sort(attrs)
			fmt.Fprintf(&out, "%s%s %s\n", indent, s.Name, strings.Join(attrs, " "))
			draw(s.SpanContext.SpanID().String(), indent+"  ")
		}
	}
	draw("0000000000000000", "")
	draw("00f067aa0ba902b7", "") // the caller's
	return out.String()
}

const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent  = "00-" + callersTrace + "-00f067aa0ba902b7-01"
)

func TestX29Spans(t *testing.T) {
	t.Parallel()
	want := func(w *traced, trace, want string) {
		w.Helper()
		if got := w.tree(trace); strings.TrimSpace(got) != strings.TrimSpace(want) {
			w.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}

	inTracedWorld(t, "a start, with what it takes", func(w *traced) {
		w.start("t", everything, alone)
		want(w, "", `
start task code=ok task=t
  dial code=ok link=primary task=t
  attach code=ok task=t`)
		w.spans.Reset()
		w.b.DropConnections() // no caller waits for what comes now
		want(w, "", `dial code=ok link=primary task=t`)
	})

	inTracedWorld(t, "words that are none are told to nobody", func(w *traced) {
		w.start("t", everything, alone)
		w.spans.Reset()
		if _, err := w.node.Respond(w.Context(), "t", messages.DialogAnswer{Action: "my secret"}); messages.CodeOf(err) != messages.CodeInvalidArgument {
			w.Error(err)
		}
		if _, err := w.node.Navigate(w.Context(), "t", messages.NavigateRequest{URL: "about:blank", WaitUntil: "my secret"}); messages.CodeOf(err) != messages.CodeInvalidArgument {
			w.Error(err)
		}
		want(w, "", "")
	})

	inTracedWorld(t, "calls over HTTP, within the caller's trace", func(w *traced) {
		page := w.start("t", everything).PageTargetID
		w.b.Navigate(page, "http://a.test/")
		frame := w.b.AddFrame(w.b.MainFrame(page), "http://b.test/")
		synctest.Wait()
		w.spans.Reset()
		post := func(what, body string) int {
			return w.call("POST", "/v1/tasks/t/"+what, body, "Traceparent", traceparent)
		}
		post("cdp", `{"method":"Runtime.evaluate","params":{"expression":"'planted'"}}`)
		post("cdp", `{"method":"Runtime.evaluate","params":{"expression":"1+1"},"frame_id":"`+string(frame)+`"}`)
		post("cdp", `{"method":"Browser.getVersion"}`)
		post("cdp", `{"method":"Bogus.method","params":{"a":"planted"}}`)
		w.b.OpenDialog(w.b.MainFrame(page), chaos.Prompt, "planted", "planted")
		synctest.Wait()
		post("navigate", `{"url":"http://a.test/?planted"}`)
		post("dialog", `{"action":"accept","prompt_text":"planted"}`)
		post("navigate", `{"url":"http://a.test/?planted","wait_until":"commit"}`)
		want(w, callersTrace, `
POST /v1/tasks/{id}/cdp http.request.method=POST http.response.status_code=200 http.route=/v1/tasks/{id}/cdp task=t
  Runtime.evaluate code=ok session_kind=page task=t
POST /v1/tasks/{id}/cdp http.request.method=POST http.response.status_code=200 http.route=/v1/tasks/{id}/cdp task=t
  Runtime.evaluate code=ok session_kind=frame task=t
POST /v1/tasks/{id}/cdp http.request.method=POST http.response.status_code=200 http.route=/v1/tasks/{id}/cdp task=t
  Browser.getVersion code=ok session_kind=browser task=t
POST /v1/tasks/{id}/cdp http.request.method=POST http.response.status_code=502 http.route=/v1/tasks/{id}/cdp task=t
  Bogus.method code=cdp_error session_kind=page task=t
POST /v1/tasks/{id}/navigate http.request.method=POST http.response.status_code=409 http.route=/v1/tasks/{id}/navigate task=t
  navigate code=blocked_by_dialog task=t wait_until=
POST /v1/tasks/{id}/dialog http.request.method=POST http.response.status_code=200 http.route=/v1/tasks/{id}/dialog task=t
  answer dialog action=accept closed_by=agent code=ok dialog=d-1 task=t
POST /v1/tasks/{id}/navigate http.request.method=POST http.response.status_code=200 http.route=/v1/tasks/{id}/navigate task=t
  navigate code=ok task=t wait_until=commit`)
		for _, s := range w.spans.GetSpans() {
			if strings.Contains(fmt.Sprintf("%+v", s), "planted") {
				w.Errorf("leaked: %+v", s)
			}
		}
	})

	inTracedWorld(t, "strangers and probes make none", func(w *traced) {
		if code := w.call("GET", "/v1/tasks", "", "Authorization", "Bearer wrong", "Traceparent", traceparent); code != http.StatusUnauthorized {
			w.Errorf("status %d", code)
		}
		w.call("GET", "/livez", "", "Traceparent", traceparent)
		w.call("GET", "/v1/nothing", "", "Traceparent", traceparent)
		if s := w.tree(""); s != "" {
			w.Errorf("%s", s)
		}
	})
}

// BenchmarkCDP is one raw command on a fake browser, over a socket.
func BenchmarkCDP(b *testing.B) {
	ctx := context.Background()
	node, err := node.Start(ctx, node.Config{StateDir: b.TempDir(), Seed: 1, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = node.Stop(ctx) }()
	fake := chaos.New(chaos.Options{Seed: 1, Pages: 1})
	server := httptest.NewServer(fake)
	defer server.Close()
	defer fake.Close()
	u, err := messages.ParseCDPURL(fake.URL(server.Listener.Addr().String()))
	if err != nil {
		b.Fatal(err)
	}
	if _, _, err := node.GetOrStart(ctx, "t", messages.TaskSpec{CDPURL: u, Scope: messages.ScopeBrowser}); err != nil {
		b.Fatal(err)
	}
	want := []byte("2")
	b.ReportAllocs()
	for b.Loop() {
		r, err := node.CDP(ctx, "t", messages.CDPRequest{Method: "Runtime.evaluate", Params: []byte(`{"expression":"1+1"}`)})
		if err != nil || !bytes.Contains(r.Result, want) {
			b.Fatalf("%s, %v", r.Result, err)
		}
	}
}
