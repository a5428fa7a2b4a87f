package ws

import (
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// StatusError is an answer that is not an upgrade.
type StatusError struct {
	Status int
	Body   []byte // its first kilobyte
}

// Error implements error.
func (e *StatusError) Error() string { return "websocket: " + http.StatusText(e.Status) }

const (
	maxErrorBody = 1024
	bodyTimeout  = 3 * time.Second
)

// Dial opens a WebSocket at endpoint (ws, wss, http or https) with the client's
// transport and redirect policy. Host overrides the Host header if it is not
// empty. Ctx bounds the handshake only. The error is a [*StatusError], a
// [ProtocolError], or the client's, which may name the URL.
//
// No Origin is sent, which Chrome would refuse, and no extension is offered.
func Dial(ctx context.Context, client *http.Client, endpoint *url.URL, host string) (*Conn, error) {
	c := *client
	if c.Timeout > 0 {
		// The client's own would go on after the handshake.
		limited, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		ctx, c.Timeout = limited, 0
	}
	if follow := c.CheckRedirect; follow != nil {
		c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
			req.URL.Scheme = httpScheme(req.URL.Scheme)
			return follow(req, via)
		}
	}
	at := *endpoint
	at.Scheme = httpScheme(at.Scheme)
	var conn net.Conn
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { conn = i.Conn }})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // never fails
	key := base64.StdEncoding.EncodeToString(nonce[:])
	req.Host = host
	for name, value := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key,
	} {
		req.Header.Set(name, value)
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	rwc, ok := resp.Body.(io.ReadWriteCloser)
	if err := verify(resp, key); err != nil || !ok {
		defer resp.Body.Close()
		if err == nil {
			err = ProtocolError("the HTTP client cannot switch protocols")
		}
		return nil, err
	}
	return newConn(rwc, socketOf(conn)), nil
}

func httpScheme(scheme string) string {
	switch scheme {
	case "ws":
		return "http"
	case "wss":
		return "https"
	}
	return scheme
}

func verify(resp *http.Response, key string) error {
	accept := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	switch {
	case resp.StatusCode != http.StatusSwitchingProtocols:
		// Whoever does not end its answer is not waited for.
		timer := time.AfterFunc(bodyTimeout, func() { resp.Body.Close() })
		defer timer.Stop()
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return &StatusError{resp.StatusCode, body}
	case !hasToken(resp.Header, "Connection", "upgrade"), !hasToken(resp.Header, "Upgrade", "websocket"):
		return ProtocolError("the answer is no upgrade to a WebSocket")
	case resp.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(accept[:]):
		return ProtocolError("the answer is not to this handshake")
	case resp.Header.Get("Sec-WebSocket-Extensions") != "", resp.Header.Get("Sec-WebSocket-Protocol") != "":
		return ProtocolError("the answer chooses what was not offered")
	}
	return nil
}

func hasToken(h http.Header, name, token string) bool {
	for _, line := range h.Values(name) {
		for t := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(t), token) {
				return true
			}
		}
	}
	return false
}

// socketOf leads past net/http to a plain socket, which it has let go with the
// upgrade. A connection of another type may do more than pass bytes on.
func socketOf(c net.Conn) syscall.RawConn {
	var socket syscall.Conn
	switch c := c.(type) {
	case *net.TCPConn:
		socket = c
	case *net.UnixConn:
		socket = c
	default:
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
