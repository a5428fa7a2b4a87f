package hosted

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// Options say how the service behaves. The zero value is a plain proxy.
type Options struct {
	// DismissAfter is how long a native dialog stays open; 0 leaves dialogs alone.
	DismissAfter time.Duration
	// HasHolder has the client that does so hold every new page before its first script, and
	// let it run at once, as Playwright does (C54).
	HasHolder bool
	// DoesDropOthers ends every connection of a door when one of them ends.
	DoesDropOthers bool
	// Dials is how many connections a door admits before its address has expired;
	// 0 is any number, until [Door.Expire].
	Dials int
	// Refuse are the domains, such as "Debugger", and methods that no client may use.
	Refuse []string
	// MaxMessage ends a connection by a message of more bytes, either way; 0 lets all pass.
	MaxMessage int64
}

// Backend is the service in front of one browser. Its methods are safe for
// concurrent use.
type Backend struct {
	upstream string
	options  Options
	addr     string
	server   *http.Server
	ctx      context.Context
	stop     context.CancelFunc
	running  sync.WaitGroup

	mu    sync.Mutex // protects doors and what is in them
	doors map[string]*Door
}

// Door is an address of the service, as it gives out one for each session.
type Door struct {
	b         *Backend
	token     string
	dials     int
	refused   int
	isExpired bool
	open      map[*connection]struct{}
}

type connection struct {
	number    int // how many the door had let in with it
	cancel    context.CancelFunc
	isDropped bool // with another one that ended: its own end, later, drops no other
}

// New starts the service before the browser at upstream, a ws:// DevTools URL.
func New(upstream string, o Options) (*Backend, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &Backend{upstream: upstream, options: o, addr: listener.Addr().String(), doors: map[string]*Door{}}
	b.ctx, b.stop = context.WithCancel(context.Background())
	if o.DismissAfter > 0 {
		ws, err := b.dial(b.ctx)
		if err != nil {
			b.stop()
			_ = listener.Close()
			return nil, err
		}
		k := &keeper{ws: ws, after: o.DismissAfter, isHolder: o.HasHolder}
		b.running.Go(func() {
			k.keep(b.ctx)
			_ = ws.CloseNow()
		})
	}
	b.server = &http.Server{Handler: http.HandlerFunc(b.serve), ReadHeaderTimeout: 10 * time.Second}
	b.running.Go(func() { _ = b.server.Serve(listener) })
	return b, nil
}

// Close ends the service and every connection through it.
func (b *Backend) Close() {
	b.stop()
	_ = b.server.Close()
	b.running.Wait()
}

// Open gives out an address.
func (b *Backend) Open() *Door {
	var token [16]byte
	_, _ = rand.Read(token[:]) // never fails
	d := &Door{b: b, token: hex.EncodeToString(token[:]), open: map[*connection]struct{}{}}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.doors[d.token] = d
	return d
}

// URL is the door's address, which is a credential.
func (d *Door) URL() string { return "ws://" + d.b.addr + "/devtools/browser/" + d.token }

// Expire closes the door to who is not in.
func (d *Door) Expire() {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	d.isExpired = true
}

// Dials is how many connections were let in, and Refused how many were not.
func (d *Door) Dials() int {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return d.dials
}

// Refused is how many connections came too late.
func (d *Door) Refused() int {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	return d.refused
}

// HasDropped ends the connection that was let in as the n-th, 1 being the first; false says
// that it is not open.
func (d *Door) HasDropped(n int) bool {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	for c := range d.open {
		if c.number == n {
			c.cancel()
			return true
		}
	}
	return false
}

func (b *Backend) dial(ctx context.Context) (*websocket.Conn, error) {
	ws, _, err := websocket.Dial(ctx, b.upstream, &websocket.DialOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(-1)
	return ws, nil
}

// enter lets a connection in, or says that the address has expired.
func (b *Backend) enter(path string, cancel context.CancelFunc) (*Door, *connection, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	const prefix = "/devtools/browser/"
	if len(path) <= len(prefix) || b.doors[path[len(prefix):]] == nil {
		return nil, nil, errors.New("no such session")
	}
	d := b.doors[path[len(prefix):]]
	if d.isExpired || b.options.Dials > 0 && d.dials >= b.options.Dials {
		d.refused++
		return nil, nil, errors.New("the session's address has expired")
	}
	d.dials++
	c := &connection{number: d.dials, cancel: cancel}
	d.open[c] = struct{}{}
	return d, c, nil
}

func (b *Backend) left(d *Door, c *connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(d.open, c)
	if b.options.DoesDropOthers && !c.isDropped {
		for other := range d.open {
			other.isDropped = true
			other.cancel()
		}
	}
}

func (b *Backend) serve(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	door, c, err := b.enter(r.URL.Path, cancel)
	if err != nil {
		http.Error(w, err.Error(), http.StatusGone)
		return
	}
	defer b.left(door, c)
	upstream, err := b.dial(ctx)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	client, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		_ = upstream.CloseNow()
		return
	}
	if limit := b.options.MaxMessage; limit > 0 {
		client.SetReadLimit(limit)
		upstream.SetReadLimit(limit)
	} else {
		client.SetReadLimit(-1)
	}
	var pumps sync.WaitGroup
	for _, ends := range [][2]*websocket.Conn{{client, upstream}, {upstream, client}} {
		pumps.Go(func() {
			defer cancel()
			b.pump(ctx, ends[1], ends[0], ends[0] == client)
		})
	}
	pumps.Wait()
	_ = client.CloseNow()
	_ = upstream.CloseNow()
}

// pump carries messages until either end, or the connection, is over.
func (b *Backend) pump(ctx context.Context, to, from *websocket.Conn, fromClient bool) {
	for {
		kind, message, err := from.Read(ctx)
		if err != nil {
			return
		}
		if fromClient {
			if refusal := b.refuse(message); refusal != nil {
				if from.Write(ctx, kind, refusal) != nil {
					return
				}
				continue
			}
		}
		if to.Write(ctx, kind, message) != nil {
			return
		}
	}
}

// refuse is the answer to a command that is not to be had; nil for all others.
func (b *Backend) refuse(message []byte) []byte {
	if len(b.options.Refuse) == 0 {
		return nil
	}
	var c struct {
		ID      int64  `json:"id"`
		Session string `json:"sessionId,omitempty"`
		Method  string `json:"method"`
	}
	if json.Unmarshal(message, &c) != nil {
		return nil
	}
	if domain, _, _ := strings.Cut(c.Method, "."); !slices.Contains(b.options.Refuse, domain) && !slices.Contains(b.options.Refuse, c.Method) {
		return nil
	}
	return fmt.Appendf(nil, `{"id":%d,"error":{"code":-32601,"message":"'%s' wasn't found"},"sessionId":%q}`, c.ID, c.Method, c.Session)
}
