package stage

import (
	"fmt"
	"net"
	"net/http"
	"strconv"
)

// Site serves pages with iframes of other sites, each of which is a process of
// its own.
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
		w.Header().Set("Content-Type", "text/html")
		n, _ := strconv.Atoi(r.URL.Query().Get("iframes")) // none
		_, _ = fmt.Fprint(w, "<!doctype html><title>bench</title>")
		for i := range n {
			_, _ = fmt.Fprintf(w, `<iframe src="http://site%d.test:%s/"></iframe>`, i, port)
		}
	})}
	go func() { _ = s.server.Serve(listener) }() // until Close
	return s, nil
}

// URL is a page with so many iframes.
func (s *Site) URL(iframes int) string {
	return fmt.Sprintf("http://a.test:%s/?iframes=%d", s.port, iframes)
}

// Close ends the server.
func (s *Site) Close() { _ = s.server.Close() }
