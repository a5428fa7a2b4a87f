package ws_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"holdfast/internal/ws"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// dial opens a connection to serve, which closes it by returning.
func dial(t *testing.T, serve func(*websocket.Conn)) *ws.Conn {
	t.Helper()
	return dialHandler(t, func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.CloseNow() }()
		c.SetReadLimit(-1)
		serve(c)
	})
}

func dialHandler(t *testing.T, h http.HandlerFunc) *ws.Conn {
	t.Helper()
	c, err := tryDial(t, h)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func tryDial(t *testing.T, h http.HandlerFunc) (*ws.Conn, error) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	at, err := url.Parse("ws" + strings.TrimPrefix(server.URL, "http"))
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	c, err := ws.Dial(t.Context(), client, at, "")
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

// receive reads the next frame.
func receive(t *testing.T, c *ws.Conn) (ws.Header, []byte) {
	t.Helper()
	buf, n := make([]byte, 1<<20), 0
	for {
		h, head, err := ws.ParseHeader(buf[:n])
		if err != nil {
			t.Fatal(err)
		}
		if head > 0 && int64(n-head) >= h.Length {
			return h, buf[head : head+int(h.Length)]
		}
		k, err := c.Read(func() []byte { return buf[n:] }, func() {})
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
}

func seal(op ws.Opcode, payload string) []byte {
	return ws.Seal(append(make([]byte, ws.Headroom), payload...), op)
}

func TestMessagesOfEverySizeComeBack(t *testing.T) {
	t.Parallel()
	c := dial(t, func(s *websocket.Conn) {
		for {
			kind, b, err := s.Read(context.Background())
			if err != nil {
				return
			}
			_ = s.Write(context.Background(), kind, b)
		}
	})
	for _, n := range []int{0, 1, 3, 7, 8, 9, 125, 126, 127, 4096, 65535, 65536, 300_000} {
		want := strings.Repeat("abcdefghijk", n/11+1)[:n]
		if err := c.Write(seal(ws.Text, want)); err != nil {
			t.Fatal(err)
		}
		h, got := receive(t, c)
		if h.Op != ws.Text || !h.Fin || string(got) != want {
			t.Errorf("%d bytes came back as %+v and %d bytes", n, h, len(got))
		}
	}
	n, err := c.TryWrite(seal(ws.Text, "direct"))
	if err != nil || n != len("direct")+6 {
		t.Errorf("TryWrite: %d, %v", n, err)
	}
	if _, got := receive(t, c); string(got) != "direct" {
		t.Errorf("came back as %q", got)
	}
}

func TestTryWriteTakesWhatTheSocketTakes(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var got []byte
	done := make(chan struct{})
	c := dial(t, func(s *websocket.Conn) {
		defer close(done)
		<-release
		_, got, _ = s.Read(context.Background())
	})
	want := strings.Repeat("x", 32<<20)
	frame := seal(ws.Text, want)
	n, err := c.TryWrite(frame)
	if err != nil || n == 0 || n == len(frame) {
		t.Fatalf("TryWrite of %d bytes to a peer that does not read: %d, %v", len(frame), n, err)
	}
	if more, err := c.TryWrite(frame[n:]); err != nil || more == len(frame)-n {
		t.Errorf("and then %d, %v", more, err)
	} else {
		n += more
	}
	close(release)
	if err := c.Write(frame[n:]); err != nil {
		t.Fatal(err)
	}
	<-done
	if string(got) != want {
		t.Errorf("%d bytes came", len(got))
	}
}

func TestReadWaitsWithoutABuffer(t *testing.T) {
	t.Parallel()
	say := make(chan string)
	c := dial(t, func(s *websocket.Conn) {
		for text := range say {
			_ = s.Write(context.Background(), websocket.MessageText, []byte(text))
		}
	})
	say <- "first"
	receive(t, c)
	idle := make(chan struct{}, 1)
	rooms := 0
	go func() {
		<-idle
		say <- "second"
		close(say)
	}()
	buf := make([]byte, 64)
	n, err := c.Read(func() []byte { rooms++; return buf }, func() { idle <- struct{}{} })
	if err != nil || !bytes.Contains(buf[:n], []byte("second")) {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if rooms != 2 {
		t.Errorf("asked for room %d times", rooms)
	}
	if n, err := c.Read(func() []byte { return buf }, func() {}); err == nil {
		t.Errorf("%q after the end", buf[:n])
	}
}

func TestCloseEndsARead(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	c := dial(t, func(*websocket.Conn) { <-release })
	defer close(release)
	time.AfterFunc(time.Millisecond, func() { _ = c.Close() })
	if _, err := c.Read(func() []byte { return make([]byte, 8) }, func() {}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
	if err := c.Write(seal(ws.Text, "x")); err == nil {
		t.Error("a write to a closed connection went well")
	}
	if _, err := c.TryWrite(seal(ws.Text, "x")); err == nil {
		t.Error("a direct one too")
	}
}

func TestHandshakeRefuses(t *testing.T) {
	t.Parallel()
	upgrade := func(w http.ResponseWriter, header, body string) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\n"+header+"\r\n"+body)
	}
	accept := func(r *http.Request) string {
		sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		return "Sec-WebSocket-Accept: " + base64.StdEncoding.EncodeToString(sum[:]) + "\r\n"
	}
	const asked = "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n"
	for name, h := range map[string]http.HandlerFunc{
		"no upgrade":   func(w http.ResponseWriter, r *http.Request) { upgrade(w, "Connection: close\r\n"+accept(r), "") },
		"no accept":    func(w http.ResponseWriter, _ *http.Request) { upgrade(w, asked, "") },
		"wrong accept": func(w http.ResponseWriter, _ *http.Request) { upgrade(w, asked+"Sec-WebSocket-Accept: abc\r\n", "") },
		"an extension": func(w http.ResponseWriter, r *http.Request) {
			upgrade(w, asked+accept(r)+"Sec-WebSocket-Extensions: permessage-deflate\r\n", "")
		},
		"a subprotocol": func(w http.ResponseWriter, r *http.Request) {
			upgrade(w, asked+accept(r)+"Sec-WebSocket-Protocol: chat\r\n", "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tryDial(t, h)
			var broken ws.ProtocolError
			if !errors.As(err, &broken) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("another status", func(t *testing.T) {
		t.Parallel()
		_, err := tryDial(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, strings.Repeat("no", 5000))
		})
		var status *ws.StatusError
		if !errors.As(err, &status) || status.Status != http.StatusForbidden || len(status.Body) != 1024 {
			t.Errorf("%v", err)
		}
	})
	t.Run("and takes what came with the answer", func(t *testing.T) {
		t.Parallel()
		c := dialHandler(t, func(w http.ResponseWriter, r *http.Request) {
			upgrade(w, asked+accept(r), "\x81\x02hi"+"\x82\x03you")
		})
		var got []byte
		for i := range 9 { // byte by byte: the handshake's buffer is read to its end
			got = append(got, 0)
			if n, err := c.Read(func() []byte { return got[i:] }, func() {}); n != 1 {
				t.Fatalf("%q, %v", got, err)
			}
		}
		if string(got) != "\x81\x02hi\x82\x03you" {
			t.Errorf("%q", got)
		}
	})
}

func TestParseHeaderRefuses(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]string{
		"reserved bits":         "\xc1\x00",
		"a mask":                "\x81\x80\x00\x00\x00\x00",
		"opcode 3":              "\x83\x00",
		"opcode 11":             "\x8b\x00",
		"a ping in pieces":      "\x09\x00",
		"a long ping":           "\x89\x7e\x00\x80",
		"a length below zero":   "\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff",
		"a long close, at once": "\x88\x7f",
	} {
		if h, n, err := ws.ParseHeader([]byte(b)); err == nil {
			t.Errorf("%s: %+v, %d", name, h, n)
		}
	}
}

func TestCloseStatus(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]int{"": 1005, "\x03\xe8": 1000, "\x03\xe9bye": 1001, "\x0f\xa0x": 4000, "\x03": 0, "\x03\xed": 0, "\x00\x01": 0, "\x13\x88": 0} {
		code, reason, err := ws.CloseStatus([]byte(payload))
		if code != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d %q %v", payload, code, reason, err)
		}
	}
	if _, reason, _ := ws.CloseStatus([]byte("\x03\xe9bye")); reason != "bye" {
		t.Errorf("reason %q", reason)
	}
}

// FuzzFrame seals and unseals, and parses whatever there is.
func FuzzFrame(f *testing.F) {
	f.Add([]byte("\x81\x02{}"))
	f.Add([]byte("\x81\x7e\x01\x00"))
	f.Add([]byte("\x89\x7f\x00\x00\x00\x00\x00\x00\x00\x01x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, n, err := ws.ParseHeader(b)
		if n > len(b) || h.Length < 0 && err == nil || err == nil && h.Op.IsControl() && h.Length > ws.MaxControl {
			t.Fatalf("%q: %+v, %d, %v", b, h, n, err)
		}
		for i := range min(n, len(b)) {
			if _, short, err := ws.ParseHeader(b[:i]); short != 0 || err != nil {
				t.Fatalf("%q: %d, %v of the first %d bytes", b, short, err, i)
			}
		}
		sealed := ws.Seal(append(make([]byte, ws.Headroom), b...), ws.Binary)
		payload := sealed[len(sealed)-len(b):]
		ws.Mask(payload, binary.LittleEndian.Uint32(sealed[len(sealed)-len(b)-4:]))
		if sealed[0] != 0x82 || sealed[1]&0x80 == 0 || !bytes.Equal(payload, b) {
			t.Fatalf("%q is sealed as %q", b, sealed)
		}
	})
}
