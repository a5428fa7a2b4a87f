package gateway_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// silencer is a TCP proxy to a server that can stop to pass bytes: the kernels at both ends
// still acknowledge everything.
type silencer struct {
	addr     string
	isSilent atomic.Bool
}

func silence(t testing.TB, server string) *silencer {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lis.Close() })
	s := &silencer{addr: lis.Addr().String()}
	pass := func(to, from net.Conn) {
		defer to.Close()
		defer from.Close()
		buf := make([]byte, 32<<10)
		for {
			n, err := from.Read(buf)
			if err != nil {
				return
			}
			if s.isSilent.Load() {
				continue
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			near, err := lis.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				_ = near.Close()
				return
			}
			go pass(far, near)
			go pass(near, far)
		}
	}()
	return s
}

// dialBy connects by way of a proxy, and reads in the background as clients do. It returns
// the connection below the WebSocket, and what counts the pings.
func (r *rig) dialBy(s *silencer, path string) (below net.Conn, pings *atomic.Int64) {
	r.Helper()
	pings = &atomic.Int64{}
	over := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		var err error
		below, err = (&net.Dialer{}).DialContext(ctx, network, addr)
		return below, err
	}}
	conn, _, err := websocket.Dial(r.ctx, "ws://"+s.addr+path, &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + r.admin.Reveal()}}, HTTPClient: &http.Client{Transport: over},
		OnPingReceived: func(context.Context, []byte) bool {
			pings.Add(1)
			return true
		},
	})
	if err != nil {
		r.Fatal(err)
	}
	go func() { _, _, _ = conn.Read(r.ctx) }() // answers pings
	r.Cleanup(func() { _ = conn.CloseNow() })
	return below, pings
}

// untilFree waits until a client can have the task exclusively.
func (r *rig) untilFree() {
	r.Helper()
	waitFor(r, "the task is free", func() bool {
		conn, err := r.dial(r.ctx, "/cdp/one?mode=exclusive")
		if err == nil {
			_ = conn.CloseNow()
		}
		return err == nil
	})
}

// TestAHalfOpenClientFreesItsSlot: nothing but a ping tells of it, where a proxy answers the
// kernel in its place.
func TestAHalfOpenClientFreesItsSlot(t *testing.T) {
	t.Parallel()
	for what, path := range map[string]string{"by ping=1": "?ping=1&mode=exclusive", "by a pong it has shown": "?mode=exclusive"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := setup(t)
			r.gateway.SetPings(20*time.Millisecond, 3*time.Second)
			s := silence(t, strings.TrimPrefix(r.server.URL, "http://"))
			below, pings := r.dialBy(s, "/cdp/one"+path)
			if what != "by ping=1" {
				// A pong that nothing has asked for, which the library does not send: a client's
				// frame has a mask, here of zeros.
				if _, err := below.Write([]byte{0x8a, 0x80, 0, 0, 0, 0}); err != nil {
					t.Fatal(err)
				}
			}
			waitFor(t, "three pings come", func() bool { return pings.Load() >= 3 })
			if _, err := r.dial(r.ctx, "/cdp/one?mode=exclusive"); err == nil {
				t.Fatal("a client that answers pings has lost its slot")
			}
			s.isSilent.Store(true)
			r.untilFree()
		})
	}
}

// TestOthersAreNotPinged: a ping ends a chromedp's session and a rod's process.
func TestOthersAreNotPinged(t *testing.T) {
	t.Parallel()
	r := setup(t)
	r.gateway.SetPings(time.Millisecond, 3*time.Second)
	s := silence(t, strings.TrimPrefix(r.server.URL, "http://"))
	_, pings := r.dialBy(s, "/cdp/one")
	_, others := r.dialBy(s, "/cdp/one?ping=1") // which comes later, and is pinged
	waitFor(t, "20 pings of the client beside it", func() bool { return others.Load() >= 20 })
	if n := pings.Load(); n > 0 {
		t.Errorf("%d pings came", n)
	}
}

// TestADeadClientFreesItsSlotAtOnce: the kernel closes the socket of a process that is killed.
func TestADeadClientFreesItsSlotAtOnce(t *testing.T) {
	t.Parallel()
	r := setup(t)
	c := r.connect("/cdp/one?mode=exclusive")
	c.call("", "Browser.getVersion", `{}`)
	_ = c.conn.CloseNow()
	r.untilFree()
}
