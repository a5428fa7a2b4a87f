package egress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elazarl/goproxy"
)

const (
	// maxClients is how many connections a proxy serves at a time. Chromium itself
	// opens 32 to a proxy, and as many for WebSockets.
	maxClients    = 256
	headerTimeout = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 256 << 10
)

// Proxy is the forward proxy of one launched browser: everything that the browser
// connects to goes through it. It is safe for concurrent use.
type Proxy struct {
	policy   *Policy
	log      *slog.Logger
	listener net.Listener
	server   *http.Server
	upstream *http.Transport
	ended    chan struct{}

	// isStrict is false while the browser is the admin's alone.
	isStrict atomic.Bool
	denied   atomic.Uint64

	mu       sync.Mutex
	isClosed bool
	conns    map[*tracked]struct{} // to clients and to hosts
	clients  int                   // of them
}

// NewProxy starts a proxy on a loopback port of its own. One that is not strict
// lets everything through until [Proxy.Restrict].
func NewProxy(p *Policy, isStrict bool, log *slog.Logger) (*Proxy, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("egress proxy: %w", err)
	}
	x := &Proxy{policy: p, log: log, listener: l, ended: make(chan struct{}), conns: map[*tracked]struct{}{}}
	x.isStrict.Store(isStrict)
	x.upstream = &http.Transport{
		DialContext: x.dial, DisableCompression: true, MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second,
		TLSHandshakeTimeout: 20 * time.Second, MaxResponseHeaderBytes: maxHeader,
	}
	h := goproxy.NewProxyHttpServer()
	h.Logger = silent{}
	h.Tr = x.upstream
	h.ConnectDial = nil // it would obey HTTPS_PROXY
	h.KeepAcceptEncoding = true
	h.ConnectDialWithReq = func(r *http.Request, network, addr string) (net.Conn, error) {
		return x.dial(r.Context(), network, addr)
	}
	h.ConnectionErrHandler = func(w io.Writer, _ *goproxy.ProxyCtx, err error) {
		_ = refusal(nil, err).Write(w) // the client may have gone
	}
	h.OnResponse().DoFunc(func(r *http.Response, c *goproxy.ProxyCtx) *http.Response {
		if r == nil {
			return refusal(c.Req, c.Error)
		}
		return r
	})
	h.NonproxyHandler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not a proxy request", http.StatusBadRequest)
	})
	x.server = &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() {
		defer close(x.ended)
		_ = x.server.Serve(clients{l.(*net.TCPListener), x}) // ends with Close
	}()
	return x, nil
}

// Address is where the proxy listens, HOST:PORT.
func (x *Proxy) Address() string { return x.listener.Addr().String() }

// Restrict has the policy hold from now on. Connections that were made before are
// cut: the policy has not judged them.
func (x *Proxy) Restrict() {
	if x.isStrict.CompareAndSwap(false, true) {
		x.upstream.CloseIdleConnections()
		x.cut()
	}
}

// Denied is how many connections the policy has denied.
func (x *Proxy) Denied() uint64 { return x.denied.Load() }

// Close ends the proxy and every connection through it.
func (x *Proxy) Close() {
	x.mu.Lock()
	x.isClosed = true
	x.mu.Unlock()
	_ = x.server.Close()
	x.cut()
	x.upstream.CloseIdleConnections()
	<-x.ended
}

func (x *Proxy) cut() {
	x.mu.Lock()
	open := slices.Collect(maps.Keys(x.conns))
	x.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
}

// dial connects to what the browser asks for, as far as the policy allows.
func (x *Proxy) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	isStrict := x.isStrict.Load()
	var c net.Conn
	var err error
	if isStrict {
		c, err = x.policy.Dial(ctx, network, addr)
	} else {
		c, err = (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, addr)
	}
	if err != nil {
		if errors.Is(err, ErrDenied) {
			n := x.denied.Add(1)
			x.log.Warn("the egress policy denied a page a connection", "denied", n) // one a minute is written
		}
		return nil, err
	}
	t, ok := x.track(c, false)
	if !ok {
		_ = c.Close()
		return nil, ErrDenied
	}
	if x.isStrict.Load() != isStrict {
		_ = t.Close() // it became strict meanwhile
		return nil, ErrDenied
	}
	return t, nil
}

// track has a connection end with the proxy; false where there is no room for it.
func (x *Proxy) track(c net.Conn, isClient bool) (*tracked, bool) {
	t := &tracked{c.(*net.TCPConn), x, isClient}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.isClosed || isClient && x.clients >= maxClients {
		return nil, false
	}
	if isClient {
		x.clients++
	}
	x.conns[t] = struct{}{}
	return t, true
}

// tracked is a connection that the proxy knows of. It can be closed by halves.
type tracked struct {
	*net.TCPConn
	proxy    *Proxy
	isClient bool
}

// Close implements net.Conn.
func (t *tracked) Close() error {
	t.proxy.mu.Lock()
	if _, ok := t.proxy.conns[t]; ok {
		delete(t.proxy.conns, t)
		if t.isClient {
			t.proxy.clients--
		}
	}
	t.proxy.mu.Unlock()
	return t.TCPConn.Close()
}

// clients is the listener for browsers. It refuses what is beyond the bound.
type clients struct {
	*net.TCPListener
	proxy *Proxy
}

// Accept implements net.Listener.
func (l clients) Accept() (net.Conn, error) {
	for {
		c, err := l.TCPListener.Accept()
		if err != nil {
			return nil, err
		}
		if t, ok := l.proxy.track(c, true); ok {
			return t, nil
		}
		_ = c.Close()
	}
}

// refusal is what a page is told of a connection that was not made: a denied one
// tells nothing of its address.
func refusal(r *http.Request, err error) *http.Response {
	status, why := http.StatusBadGateway, "the host could not be reached\n"
	if errors.Is(err, ErrDenied) {
		status, why = http.StatusForbidden, ErrDenied.Error()+"\n"
	}
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(why)),
		Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}, "X-Content-Type-Options": {"nosniff"}, "Cache-Control": {"no-store"}},
		Body:   io.NopCloser(bytes.NewBufferString(why)),
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}
