package transport

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/coder/websocket"

	"holdfast/messages"
)

// DefaultDialTimeout bounds a Dial or Resolve whose context has no deadline.
const DefaultDialTimeout = 15 * time.Second

// DialOptions says how a link behaves. The zero value is usable.
type DialOptions struct {
	// HTTPClient makes the requests; tests give one that dials a pipe. Nil is
	// a client of the package that obeys no proxy from the environment: a
	// browser's key is not to be told to one by surprise.
	HTTPClient *http.Client
	// Events are the methods that sinks get. All others end in the reader. The list
	// is kept, and not to be written to any more.
	Events []string
	// Unwanted says of an event of one of these methods that no sink wants it: then it
	// ends in the reader too. It is asked once the method is known, of an event with its
	// params right behind that, and told how they begin: head runs on to the end of the
	// message, and nothing has looked at it. What is written in another way sinks get;
	// so do those events that tell of sessions. Nil: all are wanted.
	Unwanted func(method string, head []byte) bool
	// MaxMessage bounds one message from the peer, in bytes; 0 is
	// messages.MaxCDPMessage, and 1 GiB the most. A larger one is discarded, and the call it
	// answers gets ErrTooLarge.
	MaxMessage int64
	// KeepAlive is how long the peer may be silent before it is asked; 0 is
	// DefaultKeepAlive, less is never.
	KeepAlive time.Duration
	// MayDecide, where not nil, is asked last before a command goes to the socket that decides
	// something ([quirks.Decides], and of callers' commands all that do not only observe). An
	// error withholds the command, and is its outcome. It must not block.
	MayDecide func() error
	// Stats is where the link counts; several links may share one.
	Stats *Stats
	// OnClose is called once, after every call has its outcome and the last
	// event was handed out, with the *LinkError. It must not wait for Closed.
	OnClose func(error)
}

func (o DialOptions) withDefaults() DialOptions {
	if o.MaxMessage <= 0 {
		o.MaxMessage = messages.MaxCDPMessage
	}
	o.MaxMessage = min(o.MaxMessage, 1<<30)
	if o.KeepAlive == 0 {
		o.KeepAlive = DefaultKeepAlive
	}
	if o.Stats == nil {
		o.Stats = new(Stats)
	}
	return o
}

// Dial finds the browser behind u (see [Resolve]) and opens a link. Ctx bounds
// the dialling only; without a deadline it gets [DefaultDialTimeout]. Errors
// are [*messages.Error] and hold no credential.
func Dial(ctx context.Context, u messages.CDPURL, o DialOptions) (*Mux, error) {
	o = o.withDefaults()
	d := newDialer(u, o.HTTPClient)
	ctx, cancel := d.bound(ctx)
	defer cancel()
	endpoint, err := d.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return d.link(ctx, endpoint, o)
}

// link opens a link over a WebSocket of its own.
func (d *dialer) link(ctx context.Context, endpoint *url.URL, o DialOptions) (*Mux, error) {
	conn, below, err := d.open(ctx, endpoint)
	if err != nil {
		return nil, d.withNamed(err)
	}
	m := newMux(overWebSocket(conn, below), o)
	m.browser = processOf(endpoint)
	return m, nil
}

// share opens a WebSocket that many links share. Its caller has a use of it.
func (d *dialer) share(ctx context.Context, endpoint *url.URL, limit int64) (*Shared, error) {
	conn, below, err := d.open(ctx, endpoint)
	if err != nil {
		return nil, d.withNamed(err)
	}
	return shareSocket(conn, below, processOf(endpoint), int(limit), maxSharedQueue), nil
}

// processOf is the mark of the browser process that an endpoint belongs to: a
// hash of the id that Chrome makes up at each start. The id itself is the key
// to the browser.
func processOf(endpoint *url.URL) string {
	_, id, found := strings.Cut(endpoint.Path, "/devtools/browser/")
	if id = strings.Trim(id, "/"); !found || id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}

// open makes the WebSocket handshake: no compression, and no Origin, which
// Chrome would refuse (C55). It returns what the WebSocket runs over, too.
func (d *dialer) open(ctx context.Context, endpoint *url.URL) (conn *websocket.Conn, below net.Conn, err error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { below = i.Conn }})
	// The host override is for the host it was learnt from.
	host := ""
	if endpoint.Host == d.asked.Host {
		host = d.hostHeader
	}
	for {
		conn, resp, err := websocket.Dial(ctx, endpoint.String(), &websocket.DialOptions{
			HTTPClient:      d.client,
			Host:            host,
			CompressionMode: websocket.CompressionDisabled,
		})
		if err == nil {
			// Chrome's messages have no bound; ours is the reader's business, since
			// the library's would end the connection.
			conn.SetReadLimit(-1)
			return conn, below, nil
		}
		if resp == nil || resp.StatusCode == http.StatusSwitchingProtocols {
			return nil, nil, d.networkError(ctx, err)
		}
		var body []byte
		if resp.Body != nil {
			body, _ = io.ReadAll(io.LimitReader(resp.Body, 1024))
		}
		if host == "" && refusesHostName(resp.StatusCode, body) {
			host = localHost
			continue
		}
		return nil, nil, d.statusError(resp.StatusCode)
	}
}
