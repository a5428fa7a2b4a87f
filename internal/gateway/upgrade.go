package gateway

import (
	"bufio"
	"context"
	"crypto/sha1" //nolint:gosec // what the handshake of WebSocket is made of
	"encoding/base64"
	"net"
	"net/http"
	"strings"

	"github.com/coder/websocket"

	"holdfast/internal/gateway/view"
	"holdfast/messages"
)

// maxName bounds a client's name, in bytes.
const maxName = 64

// optionsOf reads what a client asks for.
func optionsOf(r *http.Request) (Options, error) {
	q := r.URL.Query() // what is malformed is left out
	o := Options{
		Name: q.Get("client"), Dialogs: view.Dialogs(q.Get("dialogs")), Mode: messages.ClientMode(q.Get("mode")), HasPings: q.Get("ping") == "1",
		Caller: messages.CallerOf(r.Context()), IsFragile: isRod(r),
	}
	if len(o.Name) > maxName || strings.ContainsFunc(o.Name, func(c rune) bool { return c < ' ' || c > '~' }) {
		return o, messages.Errorf(messages.CodeInvalidArgument, "client: a name has at most %d printable ASCII characters", maxName)
	}
	switch o.Dialogs {
	case "":
		o.Dialogs = view.DialogsHoldfast
	case view.DialogsHoldfast, view.DialogsClient, view.DialogsObserve:
	default:
		return o, messages.Errorf(messages.CodeInvalidArgument, "dialogs must be holdfast, client or observe")
	}
	switch o.Mode {
	case "":
		o.Mode = messages.ClientsShared
	case messages.ClientsShared, messages.ClientsExclusive:
	default:
		return o, messages.Errorf(messages.CodeInvalidArgument, "mode must be shared or exclusive")
	}
	return o, nil
}

func isUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// rodKey is the key that rod sends in every handshake. It is none of 16 bytes, and rod
// checks that the answer is made of exactly it.
const rodKey = "nil"

func isRod(r *http.Request) bool { return r.Header.Get("Sec-WebSocket-Key") == rodKey }

// accept upgrades the connection. The Host and the Origin have been checked by the gate. A
// client that shows a pong, which the reader hears, can take a ping.
func accept(w http.ResponseWriter, r *http.Request, ponged func()) (*websocket.Conn, *net.TCPConn, error) {
	h := &handshake{ResponseWriter: w}
	if isRod(r) {
		h.accept = acceptOf(rodKey)
		r = r.Clone(r.Context())
		r.Header.Set("Sec-WebSocket-Key", base64.StdEncoding.EncodeToString(make([]byte, 16)))
	}
	conn, err := websocket.Accept(h, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled,
		OnPongReceived: func(context.Context, []byte) { ponged() },
	})
	return conn, h.tcp, err
}

// acceptOf is the Sec-WebSocket-Accept of a key (RFC 6455, section 4.2.2).
func acceptOf(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // see above
	return base64.StdEncoding.EncodeToString(sum[:])
}

// handshake is the answer to an upgrade. It puts in rod's accept, and sets up the
// connection's liveness.
type handshake struct {
	http.ResponseWriter
	accept string // "" leaves the library's

	tcp *net.TCPConn // that was taken over; nil where it is none
}

// WriteHeader implements http.ResponseWriter.
func (h *handshake) WriteHeader(status int) {
	if h.accept != "" && status == http.StatusSwitchingProtocols {
		h.Header().Set("Sec-WebSocket-Accept", h.accept)
	}
	h.ResponseWriter.WriteHeader(status)
}

// Hijack implements http.Hijacker.
func (h *handshake) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buf, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err == nil {
		h.tcp = tcpOf(conn)
		watch(h.tcp)
	}
	return conn, buf, err
}

// connect takes one client, and serves it from then on beside its request: that, its buffers and the
// stack that has handled it outweigh an idle client. Page, where it is not "", is the page that
// commands without a session go to. While gives what ends the client.
func (g *Gateway) connect(w http.ResponseWriter, r *http.Request, id messages.TaskID, page messages.TargetID, while func() (context.Context, func())) error {
	o, err := optionsOf(r)
	if err != nil {
		return err
	}
	h, err := g.enter(r, id)
	if err != nil {
		return err
	}
	c := newClient(h, o)
	if err := c.enter(r.Context(), page); err != nil {
		g.leave(h)
		return err
	}
	conn, tcp, err := accept(w, r, c.beginPings)
	if err != nil {
		c.leave()
		g.leave(h)
		return nil //nolint:nilerr // the library has answered
	}
	c.conn, c.tcp = conn, tcp
	g.ended.Add(1)
	go func() {
		defer g.ended.Done()
		defer g.leave(h)
		ctx, stop := while()
		defer stop()
		c.serve(ctx)
	}()
	return nil
}

// enter returns the hub of the task that the request names, which it may start.
func (g *Gateway) enter(r *http.Request, id messages.TaskID) (*hub, error) {
	b, err := g.cfg.Node.Board(id)
	if code := messages.CodeOf(err); (code == messages.CodeTaskNotFound || code == messages.CodeUpstreamUnavailable) && r.URL.Query().Get("start") == "1" {
		if _, _, err = g.cfg.Node.GetOrStart(r.Context(), id, messages.TaskSpec{}); err != nil {
			return nil, err
		}
		b, err = g.cfg.Node.Board(id)
	}
	if err != nil {
		return nil, err
	}
	return g.hub(id, b)
}
