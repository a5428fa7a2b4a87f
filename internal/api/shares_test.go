package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/internal/api"
	"holdfast/internal/api/apitest"
	"holdfast/internal/gate"
	"holdfast/messages"
)

// TestSecurity11_OneTokenDoesNotStarveEveryStream: a task's token gets its share, a
// tenant's its own, and the admin has some that nothing else takes.
func TestSecurity11_OneTokenDoesNotStarveEveryStream(t *testing.T) {
	t.Parallel()
	b := setupGate(t, &apitest.Node{}, func(c *gate.Config) { c.MaxStreams = 200 })
	s := httptest.NewServer(b.handler)
	t.Cleanup(func() {
		b.handler.CloseStreams()
		s.Close()
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	open := func(tok string) int {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/live", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+tok)
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return res.StatusCode
	}
	opened := func(tok string, tries int) (n int) {
		for range tries {
			if open(tok) == http.StatusOK {
				n++
			}
		}
		return n
	}
	if n := opened(b.admin.ForTask("acme:1"), 20); n != 8 {
		t.Errorf("a task's token has %d streams", n)
	}
	for i := range 2 {
		tenant, err := b.admin.ForTenant(fmt.Sprint("t", i))
		if err != nil {
			t.Fatal(err)
		}
		want := 128
		if i == 1 {
			want = 200 - 50 - 8 - 128 // a quarter is the admin's, at most 64
		}
		if n := opened(tenant, 130); n != want {
			t.Errorf("tenant %d has %d streams, want %d", i, n, want)
		}
	}
	if n := opened(b.admin.Reveal(), 52); n != 50 {
		t.Errorf("the admin has %d streams", n)
	}
}

// TestSecurity13_LargeBodiesHaveACommonBound: what is over it is refused before it is
// read, and a place that was given back is there again.
func TestSecurity13_LargeBodiesHaveACommonBound(t *testing.T) {
	t.Parallel()
	entered, leave := make(chan struct{}, 64), make(chan struct{})
	b := setup(t, &apitest.Node{CDPFunc: func(messages.CDPRequest) (messages.CDPResult, error) {
		entered <- struct{}{}
		<-leave
		return messages.CDPResult{}, nil
	}})
	const size, body = 30 << 20, `{"method":"A.b"}`
	long := `{"method":"A.b","params":{"x":"` + strings.Repeat("x", 7<<20) + `"}}` // takes 8 MiB
	ask := func(tok, id string, in io.Reader) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/v1/tasks/"+id+"/cdp", in)
		if s, ok := in.(*strings.Reader); ok && s.Len() == len(body) {
			r.ContentLength = size // it is taken by what it says
		}
		r.Host = "127.0.0.1"
		r.Header.Set("Authorization", "Bearer "+tok)
		return b.do(r)
	}
	done := make(chan int, 64)
	hold := func(tok, id string, in io.Reader) {
		go func() { done <- ask(tok, id, in).Code }()
		<-entered
	}
	one := b.admin.ForTask("one")
	hold(one, "one", strings.NewReader(body))
	hold(one, "one", io.MultiReader(strings.NewReader(long))) // without its length
	b.wantError(ask(one, "one", strings.NewReader(body)), 429, messages.CodeLimitReached)
	hold(one, "one", io.MultiReader(strings.NewReader(long)))
	hold(one, "one", io.MultiReader(strings.NewReader(long)))
	hold(one, "one", io.MultiReader(strings.NewReader(long)))
	b.wantError(ask(one, "one", io.MultiReader(strings.NewReader(long))), 429, messages.CodeLimitReached)
	unread := strings.NewReader(body)
	b.wantError(ask(one, "one", unread), 429, messages.CodeLimitReached)
	if unread.Len() != len(body) {
		t.Errorf("%d bytes of a body that is refused were read", len(body)-unread.Len())
	}
	hold(one, "one", strings.NewReader(`{"method":"A.c"} `)) // small ones do not count
	for i := range 4 {
		id := fmt.Sprint("other", i)
		hold(b.admin.ForTask(messages.TaskID(id)), id, strings.NewReader(body))
	}
	b.wantError(ask(b.admin.ForTask("last"), "last", strings.NewReader(body)), 429, messages.CodeLimitReached)
	hold(b.admin.Reveal(), "last", strings.NewReader(body)) // some is kept for the admin
	close(leave)
	for range 11 {
		if code := <-done; code != http.StatusOK {
			t.Error(code)
		}
	}
	if w := ask(one, "one", strings.NewReader(body)); w.Code != http.StatusOK {
		t.Errorf("after all have gone: %d %s", w.Code, w.Body)
	}
}

// TestSecurity17_PagesOfOtherSitesStartNoProfile, and load no metrics.
func TestSecurity17_PagesOfOtherSitesStartNoProfile(t *testing.T) {
	t.Parallel()
	debug, metrics := api.DebugHandler(), api.MetricsHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "up 1\n")
	}), nil)
	for path, h := range map[string]http.Handler{"/debug/pprof/cmdline": debug, "/debug/pprof/goroutine": debug, "/metrics": metrics} {
		for site, want := range map[string]int{"": 200, "none": 200, "same-origin": 200, "cross-site": 403, "same-site": 403, "anything": 403} {
			r := httptest.NewRequest("GET", path, nil)
			r.Host = "127.0.0.1:1"
			if site != "" {
				r.Header.Set("Sec-Fetch-Site", site)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s from %q: %d", path, site, w.Code)
			}
			if w.Code == 200 && (w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Cross-Origin-Resource-Policy") != "same-origin") {
				t.Errorf("%s: %v", path, w.Header())
			}
		}
	}
	for _, seconds := range []string{"61", "1e9", "-1", "NaN", "x"} {
		for _, path := range []string{"/debug/pprof/profile", "/debug/pprof/trace", "/debug/pprof/heap"} {
			r := httptest.NewRequest("GET", path+"?seconds="+seconds, nil)
			r.Host = "127.0.0.1:1"
			w := httptest.NewRecorder()
			debug.ServeHTTP(w, r)
			if w.Code != http.StatusBadRequest {
				t.Errorf("%s for %s seconds: %d", path, seconds, w.Code)
			}
		}
	}
}
