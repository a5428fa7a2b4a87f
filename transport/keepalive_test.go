package transport_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/transport"
)

// newRawBrowser makes the WebSocket handshake and gives the bare connection to
// talk, which closes it by returning.
func newRawBrowser(t testing.TB, talk func(net.Conn)) *browser {
	t.Helper()
	l := transport.NewPipeListener()
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/json/version" {
			fmt.Fprintf(w, `{"webSocketDebuggerUrl":"ws://%s/devtools/browser/abc"}`, r.Host)
			return
		}
		conn := handshake(t, w, r)
		if conn == nil {
			return
		}
		defer conn.Close()
		talk(conn)
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-done
	})
	return &browser{client: l.HTTPClient()}
}

func TestKeepAlive(t *testing.T) {
	t.Parallel()
	t.Run("holds an idle link for an hour", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var stats transport.Stats
			m := newBrowser(t, (*peer).echo).dial(t, transport.DialOptions{Stats: &stats})
			time.Sleep(time.Hour)
			if m.Err() != nil {
				t.Errorf("ended: %v", m.Err())
			}
			if n := stats.Pings.Load(); n < 600 || n > 721 {
				t.Errorf("%d pings", n)
			}
		})
	})
	t.Run("ends a link whose peer takes everything and says nothing", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			m := newRawBrowser(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }).dial(t, transport.DialOptions{})
			began := time.Now()
			var o outcomes
			m.Start(transport.Call{Method: "A.b", Done: o.of("call")})
			<-m.Closed()
			wantCause(t, m.Err(), transport.CauseHalfOpen)
			wantCause(t, o.only(t, "call").Err, transport.CauseHalfOpen)
			if d := time.Since(began); d != 9*time.Second {
				t.Errorf("after %v", d)
			}
		})
	})
	t.Run("asks at once where there is a suspicion", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			m := newRawBrowser(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }).dial(t, transport.DialOptions{})
			began := time.Now()
			m.Suspect() // too soon to tell
			time.Sleep(500 * time.Millisecond)
			for range 10 {
				m.Suspect() // one ping is out at a time
			}
			<-m.Closed()
			wantCause(t, m.Err(), transport.CauseHalfOpen)
			if d := time.Since(began); d != 4500*time.Millisecond {
				t.Errorf("after %v", d)
			}
			m.Suspect()
		})
	})
	t.Run("clears a link that was suspected for nothing", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var stats transport.Stats
			m := newBrowser(t, (*peer).echo).dial(t, transport.DialOptions{Stats: &stats})
			for range 10 {
				time.Sleep(500 * time.Millisecond)
				m.Suspect()
				synctest.Wait()
			}
			if n := stats.Pings.Load(); m.Err() != nil || n != 10 {
				t.Errorf("%d pings, %v", n, m.Err())
			}
		})
	})
	t.Run("ends a link whose peer takes nothing", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			m := newRawBrowser(t, func(net.Conn) { <-release }).dial(t, transport.DialOptions{KeepAlive: time.Second})
			began := time.Now()
			<-m.Closed()
			close(release)
			wantCause(t, m.Err(), transport.CauseHalfOpen)
			if d := time.Since(began); d != 5*time.Second {
				t.Errorf("after %v", d)
			}
		})
	})
	t.Run("asks nothing while events come", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var stats transport.Stats
			m := newRawBrowser(t, func(c net.Conn) {
				for range 60 {
					time.Sleep(time.Second)
					_, _ = c.Write(frame(`{"method":"A.b"}`))
				}
			}).dial(t, transport.DialOptions{Stats: &stats})
			time.Sleep(59 * time.Second)
			if stats.Pings.Load() != 0 || m.Err() != nil {
				t.Errorf("%d pings, %v", stats.Pings.Load(), m.Err())
			}
			<-m.Closed()
		})
	})
	t.Run("takes the bytes of a long reply for life", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			m := newRawBrowser(t, func(c net.Conn) {
				go func() { _, _ = io.Copy(io.Discard, c) }()
				const chunk, chunks = 256 << 10, 30
				head := `{"id":1,"result":{"a":"`
				body := make([]byte, chunk*chunks)
				for i := range body {
					body[i] = 'x'
				}
				copy(body, head)
				copy(body[len(body)-3:], `"}}`)
				_, _ = c.Write(frameHeader(len(body)))
				for i := range chunks {
					time.Sleep(time.Second)
					_, _ = c.Write(body[i*chunk : (i+1)*chunk])
				}
			}).dial(t, transport.DialOptions{})
			got, err := m.Do(t.Context(), "", "A.b", nil)
			if err != nil || len(got) < 7<<20 {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	})
	t.Run("leaves the peer time to read a long command", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			done := make(chan struct{})
			m := newRawBrowser(t, func(c net.Conn) {
				go func() { _, _ = io.Copy(io.Discard, c) }()
				time.Sleep(14 * time.Second) // a ping is unanswered by then
				_, _ = c.Write(frame(`{"id":1,"result":{}}`))
				<-done
			}).dial(t, transport.DialOptions{})
			defer close(done)
			began := time.Now()
			if _, err := m.Do(t.Context(), "", "A.b", fmt.Appendf(nil, `{"a":"%s"}`, strings.Repeat("x", 16<<20))); err != nil {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
			<-m.Closed()
			wantCause(t, m.Err(), transport.CauseHalfOpen)
			if d := time.Since(began).Truncate(time.Second); d != 25*time.Second { // from the end of the first verdict's patience, at 16 s
				t.Errorf("after %v", d)
			}
		})
	})
	t.Run("can be off", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			m := newRawBrowser(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }).dial(t, transport.DialOptions{KeepAlive: -1})
			time.Sleep(time.Hour)
			if m.Err() != nil {
				t.Errorf("ended: %v", m.Err())
			}
		})
	})
}

// Where this process gets no time, the peer's word may be unread when the verdict is due.
func TestKeepAliveLooksAtWhatIsUnread(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	says, done := make(chan bool), make(chan struct{})
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := handshake(t, w, r)
		if conn == nil {
			return
		}
		defer conn.Close()
		for range says {
			_, _ = conn.Write(frame(`{"method":"A.b"}`))
		}
		<-done // no ping is answered
	})}
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(l) }()
	defer func() { close(done); _ = srv.Close(); <-served }()
	var stats transport.Stats
	m, err := transport.Dial(t.Context(), cdpURL(t, "ws://"+l.Addr().String()+"/devtools/browser/abc"), transport.DialOptions{KeepAlive: time.Hour, Events: []string{"A.b"}, Stats: &stats})
	if err != nil {
		t.Fatal(err)
	}
	m.SetPong(50 * time.Millisecond)
	heard := make(chan int, 2)
	resume := make(chan struct{})
	m.Bind("", func(transport.Event) {
		heard <- 1
		<-resume // the reader gets no time
	})
	says <- true
	<-heard
	says <- true
	close(says)
	for tooLate := time.Now().Add(30 * time.Second); stats.Pings.Load() == 0; m.Suspect() {
		if time.Now().After(tooLate) {
			t.Fatal("no ping in 30 s")
		}
		time.Sleep(time.Millisecond)
	}
	select {
	case <-m.Closed():
		t.Errorf("while something was unread: %v", m.Err())
	case <-time.After(500 * time.Millisecond):
	}
	close(resume)
	<-heard
	m.Close()
	<-m.Closed()
}

// frameHeader begins an unmasked text frame of n bytes, as a server sends it.
func frameHeader(n int) []byte {
	switch {
	case n < 126:
		return []byte{0x81, byte(n)}
	case n < 1<<16:
		return []byte{0x81, 126, byte(n >> 8), byte(n)}
	}
	return []byte{0x81, 127, 0, 0, 0, 0, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}
}

func frame(msg string) []byte { return append(frameHeader(len(msg)), msg...) }
