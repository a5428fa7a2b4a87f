package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"holdfast/internal/api"
)

// TestDebug: profiles can be had by a program of this machine, by no page, and
// there is nothing else.
func TestDebug(t *testing.T) {
	t.Parallel()
	h := api.DebugHandler()
	ask := func(method, path, host, origin string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:6060"+path, strings.NewReader(""))
		r.Host = host
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/goroutine?debug=2", "/debug/pprof/cmdline", "/debug/pprof/symbol"} {
		if w := ask("GET", path, "127.0.0.1:6060", ""); w.Code != http.StatusOK || w.Body.Len() == 0 || w.Header().Get("Cache-Control") != "no-store" {
			t.Error(path, w.Code, w.Header())
		}
		for _, host := range []string{"evil.test", "evil.test:6060", "10.0.0.1:6060", ""} {
			if w := ask("GET", path, host, ""); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "goroutine") {
				t.Error(path, host, w.Code)
			}
		}
		if w := ask("GET", path, "localhost:6060", "http://evil.test"); w.Code != http.StatusForbidden {
			t.Error(path, w.Code)
		}
	}
	for _, path := range []string{"/", "/debug", "/debug/vars", "/metrics", "/livez", "/v1/tasks", "/debug/pprof/none", "/ui/"} {
		if w := ask("GET", path, "127.0.0.1:6060", ""); w.Code != http.StatusNotFound {
			t.Error(path, w.Code)
		}
	}
	if w := ask("DELETE", "/debug/pprof/heap", "127.0.0.1:6060", ""); w.Code != http.StatusMethodNotAllowed {
		t.Error(w.Code)
	}
}
