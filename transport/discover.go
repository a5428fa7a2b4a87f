package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"holdfast/messages"
)

const (
	versionPath  = "/json/version"
	maxVersion   = 64 << 10 // Chrome's answer has about 500 bytes
	maxRedirects = 5
	// localHost is the Host header that Chrome takes whatever it was started
	// with. It refuses names other than IP addresses and localhost (C55).
	localHost = "localhost"
)

// Resolve finds the WebSocket address of the browser behind u.
//
//   - http(s): GET /json/version, and webSocketDebuggerUrl of the answer. If
//     that names a loopback or unspecified address, or the host that was asked,
//     the host and port that were asked stand instead, with wss for https, and
//     user and query of u where the answer has none: the browser knows only
//     its own side of a tunnel. Any other host is believed, unless the answer
//     came over TLS and the endpoint has none.
//   - ws(s) without path and query: asked in the same way; where there is no
//     /json/version (404 and the like), u itself.
//   - ws(s) with either: u itself.
//
// Chrome refuses to serve a Host header with a DNS name. To exactly that
// refusal the request is made once more with "Host: localhost". A page's
// endpoint is refused with invalid_argument.
func Resolve(ctx context.Context, u messages.CDPURL, c *http.Client) (messages.CDPURL, error) {
	d := newDialer(u, c)
	ctx, cancel := d.bound(ctx)
	defer cancel()
	endpoint, err := d.resolve(ctx)
	if err != nil {
		return messages.CDPURL{}, err
	}
	return messages.ParseCDPURL(endpoint.String())
}

// dialer is one attempt to reach a browser.
type dialer struct {
	raw           messages.CDPURL
	asked         *url.URL
	client        *http.Client
	hostHeader    string // learnt: overrides the Host header for asked's host
	isOwnDeadline bool   // the deadline is ours, not the caller's
	// hasNoDiscovery: a server answered, and has no /json/version.
	hasNoDiscovery bool
	named          string // the port in the browser's answer, where another is dialled
}

// ownClient obeys no proxy, and keeps no connection: a browser that was asked
// once is not asked again soon.
var ownClient = NewClient((&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext)

// NewClient returns a client for [DialOptions] that connects by dial, which judges
// where a connection may go, redirects and named endpoints included.
func NewClient(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext:            readAheadDial(dial),
		TLSHandshakeTimeout:    10 * time.Second,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
		// For a handshake's few lines, where 4 KiB each is the default.
		ReadBufferSize:  1 << 10,
		WriteBufferSize: 1 << 10,
	}}
}

func newDialer(u messages.CDPURL, c *http.Client) *dialer {
	if c == nil {
		c = ownClient
	}
	client := *c
	client.CheckRedirect = checkRedirect
	return &dialer{raw: u, client: &client}
}

func (d *dialer) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	d.isOwnDeadline = true
	return context.WithTimeout(ctx, DefaultDialTimeout)
}

var errRedirect = errors.New("redirect refused")

// checkRedirect follows few redirects, to HTTP only, never from TLS to plain
// text and never to another host: the path and query of cdp_url are credentials.
func checkRedirect(req *http.Request, via []*http.Request) error {
	// net/http has put the last URL here, query included.
	req.Header.Del("Referer")
	secure := isSecure(via[0].URL)
	if !isSameParty(via[0].URL, req.URL) {
		return errRedirect
	}
	switch req.URL.Scheme {
	case "https":
	case "http":
		if secure {
			return errRedirect
		}
	default:
		return errRedirect
	}
	if len(via) >= maxRedirects {
		return errRedirect
	}
	return nil
}

func isSecure(u *url.URL) bool { return u.Scheme == "https" || u.Scheme == "wss" }

// isSameParty is true for one host and port, and for the step of a host from its
// port 80 to its port 443. Another port of a machine is another program.
func isSameParty(from, to *url.URL) bool {
	if !strings.EqualFold(from.Hostname(), to.Hostname()) {
		return false
	}
	old, now := portOf(from), portOf(to)
	return old == now || old == "80" && now == "443"
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case isSecure(u):
		return "443"
	}
	return "80"
}

func (d *dialer) resolve(ctx context.Context) (*url.URL, error) {
	asked, err := url.Parse(d.raw.Reveal())
	if err != nil || asked.Host == "" {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "cdp_url is missing or not a URL")
	}
	asked.Fragment = ""
	d.asked = asked
	if isPageEndpoint(asked) {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "cdp_url is a page's endpoint; give the browser's: http://HOST:PORT or ws://HOST:PORT/devtools/browser/ID")
	}
	switch asked.Scheme {
	case "http", "https":
		return d.discover(ctx)
	case "ws", "wss":
	default:
		return nil, messages.Errorf(messages.CodeInvalidArgument, "cdp_url must begin with ws://, wss://, http:// or https://")
	}
	if strings.Trim(asked.Path, "/") != "" || asked.RawQuery != "" {
		return asked, nil
	}
	endpoint, err := d.discover(ctx)
	if err != nil && d.hasNoDiscovery {
		return asked, nil
	}
	return endpoint, err
}

func isPageEndpoint(u *url.URL) bool { return strings.Contains(u.Path, "/devtools/page/") }

// discover asks /json/version.
func (d *dialer) discover(ctx context.Context) (*url.URL, error) {
	at := *d.asked
	switch at.Scheme {
	case "ws":
		at.Scheme = "http"
	case "wss":
		at.Scheme = "https"
	}
	if path := strings.TrimRight(at.Path, "/"); !strings.HasSuffix(path, versionPath) {
		at.Path = path + versionPath
	} else {
		at.Path = path
	}
	at.RawPath = ""
	status, body, err := d.get(ctx, &at)
	if err == nil && refusesHostName(status, body) {
		d.hostHeader = localHost
		status, body, err = d.get(ctx, &at)
	}
	switch {
	case err != nil:
		return nil, d.networkError(ctx, err)
	case status != http.StatusOK:
		switch status {
		case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUpgradeRequired, http.StatusNotImplemented:
			d.hasNoDiscovery = true
		}
		return nil, d.statusError(status)
	case len(body) > maxVersion:
		return nil, d.unavailable("%s is longer than %d bytes: is this a browser's debugging port?", versionPath, maxVersion)
	}
	var version struct {
		URL string `json:"webSocketDebuggerUrl"`
	}
	if json.Unmarshal(body, &version) != nil || version.URL == "" {
		return nil, d.unavailable("%s has no webSocketDebuggerUrl: is this a browser's debugging port?", versionPath)
	}
	return d.believe(version.URL)
}

func (d *dialer) get(ctx context.Context, at *url.URL) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return 0, nil, err
	}
	req.Host = d.hostHeader
	resp, err := d.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp.StatusCode, nil, nil // its body is the connection, whose reading no context ends
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxVersion+1))
	return resp.StatusCode, body, err
}

// refusesHostName recognises Chrome's refusal of a DNS name as Host.
func refusesHostName(status int, body []byte) bool {
	return status == http.StatusInternalServerError && bytes.Contains(body, []byte("Host header is specified and is not an IP address or localhost"))
}

// believe turns what the browser says of itself into what can be dialled from
// here.
func (d *dialer) believe(said string) (*url.URL, error) {
	if _, err := messages.ParseCDPURL(said); err != nil {
		return nil, d.unavailable("%s names no usable webSocketDebuggerUrl", versionPath)
	}
	u, err := url.Parse(said)
	if err != nil || u.Scheme != "ws" && u.Scheme != "wss" {
		return nil, d.unavailable("%s names no usable webSocketDebuggerUrl", versionPath)
	}
	if isPageEndpoint(u) {
		return nil, d.unavailable("%s names a page's endpoint, not the browser's", versionPath)
	}
	u.Fragment = ""
	if !isLocal(u.Hostname()) && !strings.EqualFold(u.Hostname(), d.asked.Hostname()) {
		if isSecure(d.asked) && !isSecure(u) {
			return nil, d.unavailable("%s was asked over TLS and names an endpoint without TLS", versionPath)
		}
		return u, nil
	}
	if portOf(u) != portOf(d.asked) {
		d.named = portOf(u)
	}
	u.Host = d.asked.Host
	if isSecure(d.asked) {
		u.Scheme = "wss"
	}
	if u.User == nil {
		u.User = d.asked.User
	}
	if u.RawQuery == "" {
		u.RawQuery = d.asked.RawQuery
	}
	return u, nil
}

// isLocal says whether a host name means this machine.
func isLocal(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.Unmap().IsLoopback() || ip.IsUnspecified())
}
