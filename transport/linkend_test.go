package transport_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"holdfast/transport"
)

func wantCause(t *testing.T, err error, want transport.Cause) {
	t.Helper()
	var end *transport.LinkError
	if !errors.As(err, &end) || end.Cause != want || !errors.Is(err, transport.ErrLinkClosed) {
		t.Errorf("error %v, want cause %s", err, want)
	}
}

func TestLinkEnds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		talk func(p *peer)
		want transport.Cause
	}{
		"with a close frame":          {func(p *peer) { _ = p.conn.Close(websocket.StatusGoingAway, "bye wss://h/secret-token-123456") }, transport.CauseClosed},
		"without one":                 {func(p *peer) { _ = p.conn.CloseNow() }, transport.CauseReset},
		"at garbage for a start":      {func(p *peer) { p.say("HTTP/1.1 400 Bad Request"); p.echo() }, transport.CauseProtocol},
		"at a binary frame for start": {func(p *peer) { _ = p.conn.Write(context.Background(), websocket.MessageBinary, []byte("{}")); p.echo() }, transport.CauseProtocol},
		"at garbage without end": {func(p *peer) {
			p.say(`{"method":"A.b"}`)
			for range 8 {
				p.say(`[]`)
			}
			p.echo()
		}, transport.CauseProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var o outcomes
				var closes atomic.Int64
				begin := make(chan struct{})
				m := newBrowser(t, func(p *peer) { <-begin; tc.talk(p) }).dial(t, transport.DialOptions{OnClose: func(err error) {
					closes.Add(1)
					wantCause(t, err, tc.want)
					o.only(t, "call")
				}})
				m.Start(transport.Call{Method: "A.b", Done: func(r transport.Reply) {
					wantCause(t, r.Err, tc.want)
					o.of("call")(r)
				}})
				if m.Err() != nil {
					t.Errorf("ended too early: %v", m.Err())
				}
				close(begin)
				<-m.Closed()
				wantCause(t, m.Err(), tc.want)
				if strings.Contains(m.Err().Error(), "secret") {
					t.Errorf("the peer's secret shows: %v", m.Err())
				}
				m.Close()
				synctest.Wait()
				if closes.Load() != 1 {
					t.Errorf("OnClose was called %d times", closes.Load())
				}
			})
		})
	}
	t.Run("broken on purpose, like one that broke", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			heard := make(chan error, 1)
			m := newBrowser(t, func(p *peer) {
				_, _, err := p.conn.Read(context.Background())
				for err == nil {
					_, _, err = p.conn.Read(context.Background())
				}
				heard <- err
			}).dial(t, transport.DialOptions{})
			m.Start(transport.Call{Method: "A.b", Done: o.of("call")})
			synctest.Wait()
			m.Break()
			m.Close() // too late to be the reason
			<-m.Closed()
			wantCause(t, m.Err(), transport.CauseReset)
			r := o.only(t, "call")
			wantCause(t, r.Err, transport.CauseReset)
			if !r.IsSent {
				t.Error("the call was written, and is said not to be")
			}
			if err := <-heard; websocket.CloseStatus(err) != -1 {
				t.Errorf("the browser was told goodbye: %v", err)
			}
		})
	})
	t.Run("not at some garbage between", func(t *testing.T) {
		t.Parallel()
		var stats transport.Stats
		m := newBrowser(t, func(p *peer) {
			for range 3 {
				p.say(`{"method":"A.b"}`)
				for range 7 {
					p.say(`nonsense`)
				}
			}
			p.echo()
		}).dial(t, transport.DialOptions{Stats: &stats})
		if _, err := m.Do(within(t), "", "A.b", nil); err != nil || stats.Garbage.Load() != 21 {
			t.Errorf("%v, %d garbage", err, stats.Garbage.Load())
		}
	})
	t.Run("whatever closes it at the same time, once", func(t *testing.T) {
		t.Parallel()
		var closes, told atomic.Int64
		m := newBrowser(t, (*peer).echo).dial(t, transport.DialOptions{OnClose: func(error) { closes.Add(1) }})
		var wg sync.WaitGroup
		const callers, each = 8, 100
		for range callers {
			wg.Go(func() {
				for i := range each {
					m.Start(transport.Call{Method: "A.b", Timeout: time.Millisecond, Done: func(transport.Reply) { told.Add(1) }})
					if i == each/2 {
						m.Close()
					}
				}
			})
		}
		wg.Wait()
		<-m.Closed()
		if closes.Load() != 1 || told.Load() != callers*each {
			t.Errorf("OnClose %d times, %d outcomes", closes.Load(), told.Load())
		}
	})
}

// What a lost link had written and the peer had not taken is never said: an answer to a
// dialog may be said again by another link by then.
func TestALostLinkSaysNothingLate(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return // Accept has answered
		}
		_, _, err = c.Read(r.Context())
		ended <- err
	}))
	defer server.Close()
	m, err := transport.Dial(t.Context(), cdpURL(t, "ws"+strings.TrimPrefix(server.URL, "http")+"/devtools/browser/1"), transport.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m.Break()
	if err := <-ended; !errors.Is(err, transport.ErrnoReset) {
		t.Errorf("the peer sees %v, want a reset", err)
	}
	<-m.Closed()
}
