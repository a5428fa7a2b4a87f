package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"holdfast/messages"
)

// matched is what ServeMux made of a request. It is handed to the mux as a
// ResponseWriter: a route's handler leaves its route here, and what the mux
// answers by itself (not found, method not allowed, a redirect to a cleaner
// path) is caught instead of sent, because it is not JSON.
type matched struct {
	route  *route
	header http.Header
	status int
}

func (m *matched) Header() http.Header         { return m.header }
func (m *matched) WriteHeader(status int)      { m.status = status }
func (m *matched) Write(b []byte) (int, error) { return len(b), nil }

func newMatcher(routes []route) *http.ServeMux {
	mux := http.NewServeMux()
	for i := range routes {
		rt := &routes[i]
		mux.HandleFunc(rt.pattern(), func(w http.ResponseWriter, _ *http.Request) { w.(*matched).route = rt })
	}
	return mux
}

// match finds the request's route; the request gets the path's values.
func match(mux *http.ServeMux, r *http.Request) *matched {
	m := &matched{header: make(http.Header)}
	mux.ServeHTTP(m, r)
	return m
}

// refuse says why there is no route for the request, and names the nearest ones.
func (m *matched) refuse(w http.ResponseWriter, r *http.Request) error {
	if m.status == http.StatusMethodNotAllowed {
		allow := m.header.Get("Allow")
		w.Header().Set("Allow", allow)
		return &refusal{m.status, messages.Errorf(messages.CodeInvalidArgument, "this route does not take the method").With("allowed", allow)}
	}
	// The path is the caller's text, and may hold a secret: it is not repeated.
	return messages.Errorf(messages.CodeNotFound, "there is no such route").With("nearest", nearest(r))
}

// nearest are the routes that share the most with the request: its elements from
// the front, those of a placeholder included, then its method.
func nearest(r *http.Request) []string {
	const most = 4
	given := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	type scored struct {
		route string
		score int
	}
	all := make([]scored, len(routes))
	for i := range routes {
		rt := &routes[i]
		s := 0
		elements := strings.Split(strings.Trim(rt.path, "/"), "/")
		for j := range min(len(given), len(elements)) {
			switch {
			case elements[j] == given[j]:
				s += 4
			case strings.HasPrefix(elements[j], "{"), sharesStart(elements[j], given[j]):
				s += 3
			}
		}
		if len(given) == len(elements) {
			s += 2
		}
		if rt.method == r.Method {
			s++
		}
		all[i] = scored{rt.pattern(), s}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return b.score - a.score })
	out := make([]string, 0, most)
	for _, s := range all[:min(most, len(all))] {
		if s.score == all[0].score || len(out) == 0 {
			out = append(out, s.route)
		}
	}
	return out
}

// sharesStart says that two words begin with the same three letters.
func sharesStart(a, b string) bool { return len(a) > 2 && len(b) > 2 && a[:3] == b[:3] }

// refusal is an error whose status says more than its code.
type refusal struct {
	status int
	err    *messages.Error
}

func (e *refusal) Error() string { return fmt.Sprintf("%d: %s", e.status, e.err) }
func (e *refusal) Unwrap() error { return e.err }
