package api

import "net/http"

// isCrossSite says whether a browser sends the request for a page of another site: as
// an image, a script, or by fetch with no-cors, which have no Origin. Programs that
// are no browsers send no such header.
func isCrossSite(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return true
}

// protect keeps what is served without a token from being loaded by other sites.
func protect(w http.ResponseWriter) {
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
}
