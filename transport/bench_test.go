package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"holdfast/messages"
	"holdfast/transport"
)

// TestEventsDoNotAllocate counts everything the process allocates while a link
// reads events; the peer's side is a bare connection that does not either.
func TestEventsDoNotAllocate(t *testing.T) {
	for name, tc := range map[string]struct {
		event    string
		want     []string
		unwanted func(string, []byte) bool
	}{
		"ignored, 600 B":   {console600, nil, nil},
		"ignored, 8 KB":    {network8k, nil, nil},
		"unwanted, 600 B":  {console600, []string{"Runtime.consoleAPICalled"}, func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte(`{"type":"log"`)) }},
		"delivered, 600 B": {console600, []string{"Runtime.consoleAPICalled"}, nil},
		"unknown session":  {strings.Replace(console600, "73FD", "84AE", 1), []string{"Runtime.consoleAPICalled"}, nil},
	} {
		const batch = 200
		frames := bytes.Repeat(frame(tc.event), batch)
		conns, done := make(chan net.Conn), make(chan struct{})
		var stats transport.Stats
		m := newRawBrowser(t, func(c net.Conn) { conns <- c; <-done }).dial(t, transport.DialOptions{Events: tc.want, Unwanted: tc.unwanted, Stats: &stats, KeepAlive: -1})
		m.Bind("73FD0A4E6B1C4C0E9A35F2D4B6C81E9A", func(transport.Event) {})
		c := <-conns
		n := testing.AllocsPerRun(20, func() {
			before := stats.MessagesIn()
			_, _ = c.Write(frames)
			for stats.MessagesIn() < before+batch {
				runtime.Gosched()
			}
		})
		if n > allocsPerEvent*batch {
			t.Errorf("%s: %v allocations for %d events", name, n, batch)
		}
		close(done)
		m.Close()
	}
}

// listenEcho serves WebSockets on a real socket that answer every command at
// once with the same reply.
func listenEcho(b *testing.B) string {
	b.Helper()
	return listenTCP(b, func(c *websocket.Conn) {
		ctx := context.Background()
		for {
			_, msg, err := c.Read(ctx)
			if err != nil {
				return
			}
			e, err := transport.Scan(msg)
			if err != nil {
				return
			}
			reply := append([]byte(`{"id":`), msg[len(`{"id":`):bytes.IndexByte(msg, ',')]...)
			reply = append(reply, `,"result":{"result":{"type":"number","value":2,"description":"2"}},"sessionId":"`...)
			reply = append(append(reply, e.SessionID...), `"}`...)
			if c.Write(ctx, websocket.MessageText, reply) != nil {
				return
			}
		}
	})
}

const evaluateParams = `{"expression":"1+1","returnByValue":true}`

// BenchmarkRoundTrip compares Do with the least a program can do with the same
// WebSocket library and server.
func BenchmarkRoundTrip(b *testing.B) {
	addr := listenEcho(b)
	b.Run("Bare", func(b *testing.B) {
		ctx := context.Background()
		c, _, err := websocket.Dial(ctx, addr, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = c.CloseNow() }()
		cmd := []byte(`{"id":1,"method":"Runtime.evaluate","params":` + evaluateParams + `,"sessionId":"73FD0A4E6B1C4C0E9A35F2D4B6C81E9A"}`)
		b.ReportAllocs()
		for b.Loop() {
			if err := c.Write(ctx, websocket.MessageText, cmd); err != nil {
				b.Fatal(err)
			}
			if _, _, err := c.Read(ctx); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Do", func(b *testing.B) {
		m := dialTCP(b, addr, transport.DialOptions{})
		ctx, params := context.Background(), []byte(evaluateParams)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.Do(ctx, "73FD0A4E6B1C4C0E9A35F2D4B6C81E9A", "Runtime.evaluate", params); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPipeRoundTrip is the same call over a pipe, whose other end does no more
// than that of BenchmarkRoundTrip.
func BenchmarkPipeRoundTrip(b *testing.B) {
	theirsIn, ours := osPipe(b)
	oursIn, theirs := osPipe(b)
	p := transport.NewPipe(oursIn, ours)
	b.Cleanup(p.Close)
	go func() {
		r := bufio.NewReader(theirsIn)
		for {
			msg, err := r.ReadSlice(0)
			if err != nil {
				return
			}
			e, err := transport.Scan(msg[:len(msg)-1])
			if err != nil {
				return
			}
			reply := append([]byte(`{"id":`), msg[len(`{"id":`):bytes.IndexByte(msg, ',')]...)
			if e.SessionID == nil {
				reply = append(reply, `,"result":{"sessionId":"ROOT"}}`...)
			} else {
				reply = append(reply, `,"result":{"result":{"type":"number","value":2,"description":"2"}},"sessionId":"`...)
				reply = append(append(reply, e.SessionID...), `"}`...)
			}
			if _, err := theirs.Write(append(reply, 0)); err != nil {
				return
			}
		}
	}()
	m, err := p.Open(context.Background(), transport.DialOptions{})
	if err != nil {
		b.Fatal(err)
	}
	ctx, params := context.Background(), []byte(evaluateParams)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Do(ctx, "", "Runtime.evaluate", params); err != nil {
			b.Fatal(err)
		}
	}
}

func osPipe(b *testing.B) (r, w *os.File) {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// BenchmarkIgnoredEvents compares a link that wants none of the events it gets
// with a loop that reads them into one buffer. An op is one event; they come in
// bursts, each asked for by a command and ended by its reply.
func BenchmarkIgnoredEvents(b *testing.B) {
	for _, size := range []struct{ name, event string }{{"600B", console600}, {"8KB", network8k}} {
		burst := (4 << 20) / len(size.event)
		frames := bytes.Repeat(frame(size.event), burst)
		addr := listenRaw(b, func(c net.Conn) {
			ask := make([]byte, 4096)
			for id := 1; ; id++ {
				if _, err := c.Read(ask); err != nil {
					return
				}
				_, _ = c.Write(frames)
				if _, err := c.Write(frame(fmt.Sprintf(`{"id":%d,"result":{}}`, id))); err != nil {
					return
				}
			}
		})
		b.Run(size.name+"/Bare", func(b *testing.B) {
			ctx := context.Background()
			c, _, err := websocket.Dial(ctx, addr, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = c.CloseNow() }()
			c.SetReadLimit(-1)
			buf := make([]byte, 64<<10)
			b.SetBytes(int64(len(size.event)))
			b.ReportAllocs()
			for left := 0; b.Loop(); left-- {
				if left == 0 {
					left = burst + 1
					if err := c.Write(ctx, websocket.MessageText, []byte("{}")); err != nil {
						b.Fatal(err)
					}
				}
				_, r, err := c.Reader(ctx)
				for n := 0; err == nil; {
					var k int
					k, err = r.Read(buf[n:])
					n += k
				}
				if !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
			}
		})
		b.Run(size.name+"/Link", func(b *testing.B) {
			m := dialTCP(b, addr, transport.DialOptions{KeepAlive: -1, Events: []string{"Page.javascriptDialogOpening", "Target.targetCreated"}})
			b.SetBytes(int64(len(size.event)))
			b.ReportAllocs()
			for left := 0; b.Loop(); left-- {
				if left == 0 {
					left = burst + 1
					if _, err := m.Do(context.Background(), "", "A.b", nil); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func dialTCP(b *testing.B, addr string, o transport.DialOptions) *transport.Mux {
	b.Helper()
	u, err := messages.ParseCDPURL(addr)
	if err != nil {
		b.Fatal(err)
	}
	m, err := transport.Dial(context.Background(), u, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		m.Close()
		<-m.Closed()
	})
	return m
}
