package api

import (
	"fmt"
	"net/http"
	"net/http/pprof"
	"strconv"

	"holdfast/internal/gate"
)

// protect keeps what is served without a token from being loaded by other sites.
func protect(w http.ResponseWriter) {
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
}

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
	names := gate.NewHosts(nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		protect(w)
		r.Body = http.MaxBytesReader(w, r.Body, maxSymbols)
		if err := names.Check(r); err != nil {
			http.Error(w, err.Message, http.StatusForbidden)
			return
		}
		if gate.IsCrossSite(r) {
			http.Error(w, "requests of other sites' pages are refused", http.StatusForbidden)
			return
		}
		if s := r.URL.Query().Get("seconds"); s != "" {
			if n, err := strconv.ParseFloat(s, 64); err != nil || !(n >= 0 && n <= maxProfile) {
				http.Error(w, fmt.Sprintf("seconds must be 0 to %d", maxProfile), http.StatusBadRequest)
				return
			}
		}
		mux.ServeHTTP(w, r)
	})
}

// maxProfile is how long a profile may take, in seconds.
const maxProfile = 60

// maxSymbols bounds the addresses that pprof asks the names of, in bytes.
const maxSymbols = 1 << 20
