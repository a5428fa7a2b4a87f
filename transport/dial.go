package transport

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"holdfast/internal/ws"
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
	// MaxMessage bounds one message from the peer, in bytes; 0 is
	// messages.MaxCDPMessage, and 1 GiB the most. A larger one is discarded, and the call it
	// answers gets ErrTooLarge.
	MaxMessage int64
	// KeepAlive is how long the peer may be silent before it is asked; 0 is
	// DefaultKeepAlive, less is never.
	KeepAlive time.Duration
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
	conn, err := d.open(ctx, endpoint)
	if err != nil {
		return nil, err
	}
	m := newMux(conn, o)
	m.browser = processOf(endpoint)
	return m, nil
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

// open makes the WebSocket handshake. It sends no Origin, which Chrome would
// refuse (C55).
func (d *dialer) open(ctx context.Context, endpoint *url.URL) (*ws.Conn, error) {
	// The host override is for the host it was learnt from.
	host := ""
	if endpoint.Host == d.asked.Host {
		host = d.hostHeader
	}
	for {
		conn, err := ws.Dial(ctx, d.client, endpoint, host)
		if err == nil {
			return conn, nil
		}
		var status *ws.StatusError
		if !errors.As(err, &status) {
			return nil, d.networkError(ctx, err)
		}
		if host == "" && refusesHostName(status.Status, status.Body) {
			host = localHost
			continue
		}
		return nil, d.statusError(status.Status)
	}
}
