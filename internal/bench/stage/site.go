package stage

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
)

// Site serves pages with iframes of other sites or with scripts. Each iframe is a process
// of its own; each script is a request and counts itself in n.
type Site struct {
	port   string
	server *http.Server
}

// ServeSite starts it.
func ServeSite() (*Site, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, err
	}
	s := &Site{port: port}
	s.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if r.URL.Path == "/script.js" {
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = fmt.Fprintf(w, "window.n = (window.n || 0) + 1; function f%s() { return n }", r.URL.RawQuery)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		n, _ := strconv.Atoi(r.URL.Query().Get("iframes")) // none
		_, _ = fmt.Fprint(w, "<!doctype html><title>bench</title>")
		for i := range n {
			_, _ = fmt.Fprintf(w, `<iframe src="http://site%d.test:%s/"></iframe>`, i, port)
		}
		n, _ = strconv.Atoi(r.URL.Query().Get("nodes")) // none
		for i := range n {
			_, _ = fmt.Fprintf(w, `<button>Button %d</button>`, i)
		}
		n, _ = strconv.Atoi(r.URL.Query().Get("scripts")) // none
		for i := range n {
			_, _ = fmt.Fprintf(w, `<script src="/script.js?%d"></script>`, i)
		}
	})}
	go func() { _ = s.server.Serve(listener) }() // until Close
	return s, nil
}

// Page is a page of what the query says: so many iframes, nodes, scripts.
func (s *Site) Page(query string) string { return "http://page.test:" + s.port + "/?" + query }

// URL is a page with so many iframes.
func (s *Site) URL(iframes int) string {
	return fmt.Sprintf("http://a.test:%s/?iframes=%d", s.port, iframes)
}

// Scripts is a page with so many scripts.
func (s *Site) Scripts(n int) string {
	return fmt.Sprintf("http://a.test:%s/?scripts=%d", s.port, n)
}

// Close ends the server.
func (s *Site) Close() { _ = s.server.Close() }
