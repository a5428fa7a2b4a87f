package cli

import (
	"bytes"
	"context"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"holdfast/internal/nodeurl"
	"holdfast/messages"
)

// debugPort behaves like the debugging port of a browser that has the pages of one task and
// nothing else. It gives its callers the token's reach on that task, so it takes what a
// browser's own port takes: callers of this machine that are no web pages.
type debugPort struct {
	node  nodeurl.Node
	task  *url.URL // the path of the task's endpoint
	token string
	query url.Values // for clients that do not say otherwise
	proxy *httputil.ReverseProxy
	over  *http.Transport

	mu       sync.Mutex // protects what follows
	isClosed bool
	running  sync.WaitGroup
}

func newDebugPort(node nodeurl.Node, token string, id messages.TaskID, query url.Values, wait time.Duration) *debugPort {
	over := http.DefaultTransport.(*http.Transport).Clone()
	over.Proxy = nil // a token is not to be told to a proxy by surprise
	over.DisableCompression = true
	over.DialContext = node.DialContext
	p := &debugPort{node: node, token: token, query: query, over: over, task: &url.URL{Path: "/cdp/" + string(id)}}
	p.proxy = &httputil.ReverseProxy{
		Rewrite: p.rewrite, ModifyResponse: p.readdress, Transport: &standby{wait: wait, next: over},
		ErrorLog: log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, "the node is not reachable: "+err.Error(), http.StatusBadGateway)
		},
	}
	return p
}

// serve answers until ctx ends, and ends its clients' connections then.
func (p *debugPort) serve(ctx context.Context, lis net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	server := &http.Server{
		Handler: p, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer p.close()
	defer cancel() // which ends what has been upgraded
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(lis); ctx.Err() == nil {
		return err
	}
	return nil
}

// close waits for the callers that there are.
func (p *debugPort) close() {
	p.mu.Lock()
	p.isClosed = true
	p.mu.Unlock()
	p.running.Wait()
	p.over.CloseIdleConnections()
}

// isEntered counts a caller, who is to leave, unless the port has been closed.
func (p *debugPort) isEntered() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isClosed {
		p.running.Add(1)
	}
	return !p.isClosed
}

// ServeHTTP implements http.Handler.
func (p *debugPort) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.isEntered() {
		return
	}
	defer p.running.Done()
	// A web page that this machine's user looks at may not reach the task: its requests name
	// it, and the name of a host of its own is none of ours (C55).
	if site := r.Header.Get("Sec-Fetch-Site"); r.Header.Get("Origin") != "" || site != "" && site != "none" || !isLoopback(r.Host) {
		http.Error(w, "this port is for programs of this machine, not for web pages", http.StatusForbidden)
		return
	}
	at := path.Clean("/" + r.URL.Path)
	isUpgrade := strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodPut:
		http.Error(w, "only GET and PUT are served", http.StatusMethodNotAllowed)
	case isUpgrade, at == "/json", strings.HasPrefix(at, "/json/"):
		p.proxy.ServeHTTP(w, r)
	default:
		http.Error(w, "not found", http.StatusNotFound)
	}
}

// isLoopback says whether a request names this machine as its host.
func isLoopback(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil && addr.IsLoopback()
}

// rewrite makes the request one of the task's endpoint.
func (p *debugPort) rewrite(r *httputil.ProxyRequest) {
	out := r.Out
	out.URL.Scheme, out.URL.Host, out.Host = p.node.Base.Scheme, p.node.Base.Host, p.node.Base.Host
	out.URL.Path, out.URL.RawPath = strings.TrimRight(p.node.Base.Path, "/")+p.task.Path+path.Clean("/"+r.In.URL.Path), ""
	out.Header.Del("Cookie")
	out.Header.Del("Authorization")
	if p.token != "" {
		out.Header.Set("Authorization", "Bearer "+p.token)
	}
	if r.In.Header.Get("Upgrade") == "" {
		return
	}
	q := r.In.URL.Query()
	for name, values := range p.query {
		if !q.Has(name) {
			q[name] = values
		}
	}
	out.URL.RawQuery = q.Encode()
}

// maxDiscovery bounds an answer of discovery, in bytes.
const maxDiscovery = 32 << 20

// readdress has discovery name this port where it names the node.
func (p *debugPort) readdress(r *http.Response) error {
	if r.StatusCode == http.StatusSwitchingProtocols || !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxDiscovery))
	_ = r.Body.Close()
	if err != nil {
		return err
	}
	own := "ws://" + hostOf(r.Request.Context())
	for _, scheme := range []string{"ws://", "wss://"} {
		body = bytes.ReplaceAll(body, []byte(scheme+p.node.Base.Host+p.task.EscapedPath()), []byte(own))
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// hostOf is the address at which a request has found the port.
func hostOf(ctx context.Context) string {
	if addr, ok := ctx.Value(http.LocalAddrContextKey).(net.Addr); ok {
		return addr.String()
	}
	return "127.0.0.1"
}

// standby tries again what would have to wait for another client, or for the task's browser.
type standby struct {
	wait time.Duration
	next http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (s *standby) RoundTrip(r *http.Request) (res *http.Response, err error) {
	err = s.try(r.Context(), func() (isFinal bool, err error) {
		if res != nil {
			_ = res.Body.Close()
		}
		res, err = s.next.RoundTrip(r)
		return r.Method != http.MethodGet || err == nil && res.StatusCode != http.StatusConflict && res.StatusCode != http.StatusServiceUnavailable, err
	})
	if err != nil && res != nil {
		_ = res.Body.Close()
		res = nil
	}
	return res, err
}

// try calls do until that is final or the wait is over. The pauses differ, so that those who
// wait for the same do not ask at the same moment.
func (s *standby) try(ctx context.Context, do func() (isFinal bool, err error)) error {
	end := time.Now().Add(s.wait)
	for {
		isFinal, err := do()
		if isFinal || !time.Now().Before(end) {
			return err
		}
		select {
		case <-time.After(200*time.Millisecond + rand.N(200*time.Millisecond)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
