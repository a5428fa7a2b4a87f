package chromiumtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Site serves pages on any number of hosts, over http and https. Its methods
// are safe for concurrent use.
type Site struct {
	number    int64
	httpPort  string
	httpsPort string

	mu       sync.Mutex
	pages    map[string]page
	hits     map[string]int
	released chan struct{}
}

type page struct {
	contentType string
	body        string
	header      http.Header
	handler     http.Handler
}

var siteNumber atomic.Int64

// Serve starts a Site with the built-in pages (see pages.go); it ends with
// the test.
func Serve(t testing.TB) *Site {
	t.Helper()
	s := &Site{number: siteNumber.Add(1), pages: map[string]page{}, hits: map[string]int{}, released: make(chan struct{})}
	for path, html := range builtin {
		s.Set(path, html)
	}
	s.addSpecials()
	s.httpPort = s.serve(t, nil)
	s.httpsPort = s.serve(t, certificate(t))
	return s
}

func (s *Site) serve(t testing.TB, config *tls.Config) (port string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("fixture server: %v", err)
	}
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	if config != nil {
		listener = tls.NewListener(listener, config)
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: Patience, ErrorLog: silent()}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("fixture server: %v", err)
		}
	}()
	t.Cleanup(func() {
		s.Release()
		// Not Shutdown: it gives a connection on which nothing was asked yet, as browsers
		// open them in advance, a second and more.
		_ = server.Close()
		<-served
	})
	return port
}

// Set makes html the page at path, on every host. Addresses in it are written
// as http://a.test/…; the host's first label is free.
func (s *Site) Set(path, html string) { s.SetType(path, "text/html; charset=utf-8", html) }

// SetType is [Site.Set] for another content type; header lines are given as
// "Name: value".
func (s *Site) SetType(path, contentType, body string, header ...string) {
	h := http.Header{}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ":")
		h.Add(name, strings.TrimSpace(value))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = page{contentType: contentType, body: body, header: h}
}

// Handle serves path by h.
func (s *Site) Handle(path string, h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = page{handler: h}
}

// Hits is how often path was asked for.
func (s *Site) Hits(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits[path]
}

// Release answers every request that a built-in slow resource holds, and all
// later ones at once.
func (s *Site) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.released:
	default:
		close(s.released)
	}
}

var written = regexp.MustCompile(`(https?:)//([a-z][a-z0-9]*)\.test\b`)

// URL turns every http://a.test and https://a.test in text into an address
// that reaches this Site and no other.
func (s *Site) URL(text string) string {
	return written.ReplaceAllStringFunc(text, func(origin string) string {
		m := written.FindStringSubmatch(origin)
		port := s.httpPort
		if m[1] == "https:" {
			port = s.httpsPort
		}
		return fmt.Sprintf("%s//%s-%d.test:%s", m[1], m[2], s.number, port)
	})
}

// Written is the inverse of [Site.URL], for comparing what a browser reports
// with what the test wrote.
func (s *Site) Written(text string) string {
	real := regexp.MustCompile(fmt.Sprintf(`([a-z][a-z0-9]*)-%d\.test(:%s|:%s)?`, s.number, s.httpPort, s.httpsPort))
	return real.ReplaceAllString(text, "$1.test")
}

// ServeHTTP implements http.Handler.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.hits[r.URL.Path]++
	p, found := s.pages[r.URL.Path]
	s.mu.Unlock()
	switch {
	case !found:
		http.NotFound(w, r)
	case p.handler != nil:
		p.handler.ServeHTTP(w, r)
	default:
		for name, values := range p.header {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Type", p.contentType)
		if w.Header().Get("Cache-Control") == "" {
			w.Header().Set("Cache-Control", "no-cache")
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader([]byte(s.URL(p.body))))
	}
}

// certificate is made anew for every Site; the browsers of this package do
// not check it.
func certificate(t testing.TB) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("fixture certificate: %v", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "holdfast test"},
		DNSNames:     []string{"*.test"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatalf("fixture certificate: %v", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
}
