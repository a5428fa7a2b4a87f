package transport_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"holdfast/transport"
)

// pieces cuts a message into frames of n bytes, with a ping in between.
func pieces(msg string, n int) []byte {
	var b []byte
	op := byte(1)
	for len(msg) > n {
		b = append(append(b, op, byte(n)), msg[:n]...)
		b = append(b, 0x89, 1, 'p')
		msg, op = msg[n:], 0
	}
	return append(append(b, 0x80|op, byte(len(msg))), msg...)
}

// dialRaw opens a link over a real socket to a peer that sends say and then runs rest.
func dialRaw(t *testing.T, o transport.DialOptions, say []byte, rest func(net.Conn)) *transport.Mux {
	t.Helper()
	m, err := transport.Dial(t.Context(), cdpURL(t, listenRaw(t, func(c net.Conn) {
		_, _ = c.Write(say)
		rest(c)
	})), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.Close()
		<-m.Closed()
	})
	return m
}

func TestFrames(t *testing.T) {
	t.Parallel()
	t.Run("a message in pieces is one", func(t *testing.T) {
		t.Parallel()
		got := make(chan string, 3)
		say := append(pieces(`{"method":"A.wanted","params":{"a":"`+strings.Repeat("x", 300)+`"}}`, 100), pieces(`{"method":"A.ignored"}`, 5)...)
		say = append(say, frame(`{"method":"A.wanted","params":1}`)...)
		pongs := make(chan []byte, 1)
		var stats transport.Stats
		m := dialRaw(t, transport.DialOptions{Events: []string{"A.wanted"}, Stats: &stats}, say, func(c net.Conn) {
			head := make([]byte, 7) // a masked pong of one byte
			_, _ = io.ReadFull(c, head)
			pongs <- head
			_, _ = io.Copy(io.Discard, c)
		})
		m.Bind("", func(e transport.Event) { got <- string(e.Params) })
		if first := <-got; len(first) != 308 {
			t.Errorf("%d bytes: %s", len(first), first)
		}
		if second := <-got; second != "1" {
			t.Errorf("second: %s", second)
		}
		if p := <-pongs; p[0] != 0x8a || p[1] != 0x81 || p[6]^p[2] != 'p' {
			t.Errorf("the pong is % x", p)
		}
		m.Close()
		<-m.Closed() // unwanted events are counted after the messages of the same read
		if n := stats.EventsIn.Load(); n != 3 {
			t.Errorf("%d events", n)
		}
	})
	t.Run("a message in pieces may be too large", func(t *testing.T) {
		t.Parallel()
		reply := `{"id":1,"result":{"a":"` + strings.Repeat("x", 1000) + `"}}`
		again := make(chan struct{})
		m := dialRaw(t, transport.DialOptions{MaxMessage: 500}, nil, func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1024))
			_, _ = c.Write(pieces(reply, 100))
			<-again
			_, _ = c.Write(frame(`{"id":2,"result":{}}`))
			_, _ = io.Copy(io.Discard, c)
		})
		if _, err := m.Do(within(t), "", "A.b", nil); !errors.Is(err, transport.ErrTooLarge) {
			t.Errorf("%v", err)
		}
		told := make(chan transport.Reply, 1)
		m.Start(transport.Call{Method: "A.b", Done: func(r transport.Reply) { told <- r }})
		close(again)
		if r := <-told; r.Err != nil {
			t.Errorf("the next call: %v", r.Err)
		}
	})
	for name, say := range map[string]string{
		"a piece without a beginning": "\x80\x02{}",
		"a message inside another":    "\x01\x01{\x81\x02{}",
		"half a close code":           "\x88\x01\x03",
	} {
		t.Run(name+" is a broken protocol", func(t *testing.T) {
			t.Parallel()
			m := dialRaw(t, transport.DialOptions{}, []byte(say), func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
			<-m.Closed()
			wantCause(t, m.Err(), transport.CauseProtocol)
		})
	}
	t.Run("a goodbye is returned", func(t *testing.T) {
		t.Parallel()
		heard := make(chan []byte, 1)
		m := dialRaw(t, transport.DialOptions{}, []byte("\x88\x05\x03\xe9bye"), func(c net.Conn) {
			b, _ := io.ReadAll(c)
			heard <- b
		})
		<-m.Closed()
		wantCause(t, m.Err(), transport.CauseClosed)
		if text := m.Err().Error(); !strings.Contains(text, "status 1001 bye") {
			t.Errorf("%s", text)
		}
		if b := <-heard; len(b) < 8 || b[0] != 0x88 {
			t.Errorf("the peer heard % x", b)
		}
	})
}

// TestDirectWritesKeepTheOrder has callers that wait and callers that do not
// write at the same time, messages that no socket takes at once among them.
func TestDirectWritesKeepTheOrder(t *testing.T) {
	t.Parallel()
	const callers, each = 3, 20
	addr := listenTCP(t, func(c *websocket.Conn) {
		c.SetReadLimit(-1)
		p := &peer{t: t, conn: c}
		last := map[string]string{}
		for {
			cmd, ok := p.read()
			if !ok {
				return
			}
			session, n, _ := strings.Cut(cmd.Method, ".")
			if last[session] >= n {
				t.Errorf("%s came after %s.%s", cmd.Method, session, last[session])
			}
			last[session] = n
			p.say(`{"id":%d,"result":{"bytes":%d}}`, cmd.ID, len(cmd.Params))
		}
	})
	m, err := transport.Dial(t.Context(), cdpURL(t, addr), transport.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	params := func(i int) []byte {
		n := 10
		if i%10 == 3 {
			n = 1 << 20
		}
		return append(append([]byte(`{"a":"`), bytes.Repeat([]byte("x"), n)...), `"}`...)
	}
	var all sync.WaitGroup
	for k := range callers {
		all.Go(func() {
			for i := range each {
				if _, err := m.Do(context.Background(), "", method("wait", k, i), params(i)); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			var told sync.WaitGroup
			for i := range each {
				told.Add(1)
				m.Start(transport.Call{Method: method("go", k, i), Params: params(i), IsDirect: i%2 == 0, Done: func(r transport.Reply) {
					if r.Err != nil {
						t.Error(r.Err)
					}
					told.Done()
				}})
			}
			told.Wait()
		})
	}
	all.Wait()
	m.Close()
	<-m.Closed()
}

func method(kind string, caller, n int) string {
	return kind + string(rune('a'+caller)) + "." + string(rune('A'+n/10)) + string(rune('0'+n%10))
}
