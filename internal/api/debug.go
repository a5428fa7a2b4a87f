package api

import (
	"net/http"
	"net/http/pprof"
)

// DebugHandler serves /debug/pprof/ and nothing else, for a listener that only
// this machine reaches. It wants no token, but the Host and Origin checks of
// every other route: a page must not read the node's memory by rebinding its
// name.
func DebugHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("POST /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	names := newHosts(nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Cache-Control", "no-store")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		if err := names.check(r); err != nil {
			http.Error(w, err.Message, http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxSymbols)
		mux.ServeHTTP(w, r)
	})
}

// maxSymbols bounds the addresses that pprof asks the names of, in bytes.
const maxSymbols = 1 << 20
