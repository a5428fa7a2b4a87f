package api

import (
	"fmt"
	"net/http"

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

// refuse says why there is no route. The code is that of a malformed request;
// the status tells the kinds apart.
func (m *matched) refuse(w http.ResponseWriter) error {
	if m.status == http.StatusMethodNotAllowed {
		allow := m.header.Get("Allow")
		w.Header().Set("Allow", allow)
		return &refusal{m.status, messages.Errorf(messages.CodeInvalidArgument, "this route does not take the method").With("allowed", allow)}
	}
	return &refusal{http.StatusNotFound, messages.Errorf(messages.CodeInvalidArgument, "there is no such route")}
}

// refusal is an error whose status says more than its code.
type refusal struct {
	status int
	err    *messages.Error
}

func (e *refusal) Error() string { return fmt.Sprintf("%d: %s", e.status, e.err) }
func (e *refusal) Unwrap() error { return e.err }
