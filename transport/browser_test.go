package transport_test

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"holdfast/messages"
	"holdfast/transport"
)

// peer is the other side of a link in a test.
type peer struct {
	t    testing.TB
	conn *websocket.Conn
}

// command is what a peer reads.
type command struct {
	ID        int64           `json:"id"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	SessionID string          `json:"sessionId"`
}

// read returns the next command, false when the link is gone.
func (p *peer) read() (command, bool) {
	kind, b, err := p.conn.Read(context.Background())
	if err != nil {
		return command{}, false
	}
	var c command
	if kind != websocket.MessageText || json.Unmarshal(b, &c) != nil {
		p.t.Errorf("the mux sent no CDP command but %q", b)
	}
	return c, true
}

func (p *peer) say(format string, args ...any) {
	_ = p.conn.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, format, args...))
}

// echo answers every command with its method, until the link is gone.
func (p *peer) echo() {
	for {
		c, ok := p.read()
		if !ok {
			return
		}
		if c.SessionID != "" {
			p.say(`{"id":%d,"result":{"method":%q},"sessionId":%q}`, c.ID, c.Method, c.SessionID)
		} else {
			p.say(`{"id":%d,"result":{"method":%q}}`, c.ID, c.Method)
		}
	}
}

// browser serves one handler per link over pipes.
type browser struct {
	client *http.Client
	links  atomic.Int64
}

// newBrowser starts a server whose every WebSocket is given to talk, and which
// answers /json/version. It ends with the test.
func newBrowser(t testing.TB, talk func(p *peer)) *browser {
	t.Helper()
	return newBrowserBehind(t, func(http.ResponseWriter, *http.Request) bool { return false }, talk)
}

// newBrowserBehind is newBrowser with a gate that may answer requests itself.
func newBrowserBehind(t testing.TB, gate func(http.ResponseWriter, *http.Request) bool, talk func(p *peer)) *browser {
	t.Helper()
	l := transport.NewPipeListener()
	b := &browser{client: l.HTTPClient()}
	mux := http.NewServeMux()
	mux.HandleFunc("/json/version", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"Browser":"Chrome/156","webSocketDebuggerUrl":"ws://%s/devtools/browser/abc"}`, r.Host)
	})
	mux.HandleFunc("/devtools/browser/abc", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" || r.Header.Get("Sec-WebSocket-Extensions") != "" {
			t.Errorf("handshake with Origin or extensions: %v", r.Header)
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		conn.SetReadLimit(-1)
		b.links.Add(1)
		defer func() { _ = conn.CloseNow() }()
		talk(&peer{t: t, conn: conn})
	})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !gate(w, r) {
			mux.ServeHTTP(w, r)
		}
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
	return b
}

// dial opens a link to the browser and closes it with the test.
func (b *browser) dial(t testing.TB, o transport.DialOptions) *transport.Mux {
	t.Helper()
	o.HTTPClient = b.client
	m, err := transport.Dial(t.Context(), cdpURL(t, "http://127.0.0.1:9222"), o)
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	t.Cleanup(func() {
		m.Close()
		<-m.Closed()
	})
	return m
}

func cdpURL(t testing.TB, s string) messages.CDPURL {
	t.Helper()
	u, err := messages.ParseCDPURL(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// within bounds a wait that should be over at once.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// listenTCP serves talk to every WebSocket on a real loopback socket and
// returns its address.
func listenTCP(t testing.TB, talk func(*websocket.Conn)) string {
	t.Helper()
	return serveTCP(t, func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		talk(conn)
	})
}

// listenRaw is listenTCP with the bare connection behind the handshake.
func listenRaw(t testing.TB, talk func(net.Conn)) string {
	t.Helper()
	return serveTCP(t, func(w http.ResponseWriter, r *http.Request) {
		if conn := handshake(t, w, r); conn != nil {
			defer conn.Close()
			talk(conn)
		}
	})
}

func serveTCP(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
	return "ws://" + l.Addr().String() + "/devtools/browser/abc"
}

// handshake answers a WebSocket handshake by hand and gives the connection,
// nil if there is none.
func handshake(t testing.TB, w http.ResponseWriter, r *http.Request) net.Conn {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return nil
	}
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		base64.StdEncoding.EncodeToString(sum[:]))
	return conn
}
