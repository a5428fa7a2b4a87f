package transport_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"holdfast/messages"
	"holdfast/transport"
)

// outcomes collects what the calls of a test were told.
type outcomes struct {
	mu   sync.Mutex
	told map[string][]transport.Reply
}

func (o *outcomes) of(name string) func(transport.Reply) {
	return func(r transport.Reply) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.told == nil {
			o.told = make(map[string][]transport.Reply)
		}
		o.told[name] = append(o.told[name], r)
	}
}

// only returns the outcome of a call that must have had exactly one.
func (o *outcomes) only(t *testing.T, name string) transport.Reply {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.told[name]); n != 1 {
		t.Fatalf("%s was told %d outcomes", name, n)
	}
	return o.told[name][0]
}

func (o *outcomes) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, told := range o.told {
		n += len(told)
	}
	return n
}

func TestDo(t *testing.T) {
	t.Parallel()
	t.Run("gives the result of the session's call", func(t *testing.T) {
		t.Parallel()
		m := newBrowser(t, (*peer).echo).dial(t, transport.DialOptions{})
		for _, session := range []messages.SessionID{"", "S1", `odd"one\`} {
			got, err := m.Do(within(t), session, "Browser.getVersion", []byte(`{"a":1}`))
			if err != nil || string(got) != `{"method":"Browser.getVersion"}` {
				t.Errorf("session %q: %s, %v", session, got, err)
			}
		}
	})
	t.Run("gives each of many callers its own reply", func(t *testing.T) {
		t.Parallel()
		m := newBrowser(t, (*peer).echo).dial(t, transport.DialOptions{})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 50 {
					method := fmt.Sprintf("Test.m%dx%d", i, j)
					got, err := m.Do(within(t), "", method, nil)
					if err != nil || string(got) != fmt.Sprintf(`{"method":%q}`, method) {
						t.Errorf("%s: %s, %v", method, got, err)
					}
				}
			})
		}
		wg.Wait()
	})
	t.Run("gives Chrome's own error", func(t *testing.T) {
		t.Parallel()
		m := newBrowser(t, func(p *peer) {
			c, _ := p.read()
			p.say(`{"id":%d,"error":{"code":-32602,"message":"No dialog is showing","data":"d"}}`, c.ID)
			p.echo()
		}).dial(t, transport.DialOptions{})
		_, err := m.Do(within(t), "", "Page.handleJavaScriptDialog", nil)
		var rpc *transport.RPCError
		if !errors.As(err, &rpc) || rpc.Code != -32602 || rpc.Message != "No dialog is showing" || string(rpc.Data) != `"d"` {
			t.Errorf("error %v", err)
		}
	})
	t.Run("ends with its context and the link goes on", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var stats transport.Stats
			m := newBrowser(t, func(p *peer) {
				first, _ := p.read()
				_, _ = p.read()
				p.say(`{"id":%d,"result":{}}`, first.ID)
				p.echo()
			}).dial(t, transport.DialOptions{Stats: &stats})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := m.Do(ctx, "", "Runtime.evaluate", nil); !errors.Is(err, transport.ErrTimeout) {
				t.Errorf("error %v", err)
			}
			ctx2, cancel2 := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel2)
			if _, err := m.Do(ctx2, "", "Runtime.evaluate", nil); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			if _, err := m.Do(t.Context(), "", "Runtime.evaluate", nil); err != nil {
				t.Errorf("the link did not go on: %v", err)
			}
			if n := stats.RepliesLate.Load(); n != 1 {
				t.Errorf("%d late replies", n)
			}
		})
	})
	t.Run("refuses what would break the message", func(t *testing.T) {
		t.Parallel()
		m := newBrowser(t, (*peer).echo).dial(t, transport.DialOptions{})
		for _, params := range []string{`[]`, `"x"`, `{`, `{},"sessionId":"other"`, `{}}`, ` `, `null`} {
			if _, err := m.Do(within(t), "", "A.b", []byte(params)); !errors.Is(err, transport.ErrInvalidCall) {
				t.Errorf("params %s: %v", params, err)
			}
		}
		if _, err := m.Do(within(t), "", "", nil); !errors.Is(err, transport.ErrInvalidCall) {
			t.Errorf("no method: %v", err)
		}
		big := []byte(`{"a":"` + strings.Repeat("x", messages.MaxCDPMessage) + `"}`)
		if _, err := m.Do(within(t), "", "A.b", big); !errors.Is(err, transport.ErrTooLarge) {
			t.Errorf("huge params: %v", err)
		}
		if _, err := m.Do(within(t), "", "A.b", nil); err != nil {
			t.Errorf("the link did not go on: %v", err)
		}
	})
}

func TestStart(t *testing.T) {
	t.Parallel()
	t.Run("times out, is cancelled, is interrupted, once each", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			m := newBrowser(t, func(p *peer) {
				for ok := true; ok; _, ok = p.read() { // reads, never answers
				}
			}).dial(t, transport.DialOptions{})
			m.Start(transport.Call{Method: "A.late", Timeout: time.Second, Done: o.of("late")})
			cancelled := m.Start(transport.Call{Method: "A.cancelled", Done: o.of("cancelled")})
			m.Start(transport.Call{SessionID: "S", Method: "A.user", IsUser: true, Done: o.of("user")})
			m.Start(transport.Call{SessionID: "S", Method: "A.other", IsUser: true, Done: o.of("other")})
			m.Start(transport.Call{SessionID: "S", Method: "A.ours", Done: o.of("ours")})
			m.Start(transport.Call{SessionID: "S", Method: "A.nobody"})
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if r := o.only(t, "late"); !errors.Is(r.Err, transport.ErrTimeout) || !r.IsSent {
				t.Errorf("late: %+v", r)
			}
			stop := errors.New("stop")
			if !m.Cancel(cancelled, stop) || m.Cancel(cancelled, stop) {
				t.Error("cancel is not exactly once")
			}
			if r := o.only(t, "cancelled"); !errors.Is(r.Err, stop) {
				t.Errorf("cancelled: %+v", r)
			}
			n := m.Interrupt("S", stop, func(c transport.PendingCall, age time.Duration) bool {
				return c.Method == "A.user" && age == 2*time.Second
			})
			if r := o.only(t, "user"); n != 1 || !errors.Is(r.Err, stop) {
				t.Errorf("interrupted %d: %+v", n, r)
			}
			methods := map[string]bool{}
			for _, c := range m.Pending("S") {
				methods[c.Method] = c.IsUser
			}
			if d := cmp.Diff(map[string]bool{"A.other": true, "A.ours": false}, methods); d != "" {
				t.Error(d)
			}
			m.Close()
			<-m.Closed()
			for _, name := range []string{"other", "ours"} {
				wantCause(t, o.only(t, name).Err, transport.CauseLocal)
			}
		})
	})
	t.Run("on a session that is gone ends, whoever made it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var (
				o     outcomes
				stats transport.Stats
			)
			m := newBrowser(t, func(p *peer) {
				for ok := true; ok; _, ok = p.read() { // reads, never answers
				}
			}).dial(t, transport.DialOptions{Stats: &stats})
			m.Start(transport.Call{SessionID: "S", Method: "A.user", IsUser: true, Done: o.of("user")})
			m.Start(transport.Call{SessionID: "S", Method: "A.ours", Done: o.of("ours")})
			m.Start(transport.Call{SessionID: "T", Method: "A.ours", Done: o.of("another's")})
			gone := errors.New("gone")
			if n := m.Abandon("S", gone); n != 2 || stats.InFlight() != 1 {
				t.Errorf("%d ended, %d left", n, stats.InFlight())
			}
			for _, name := range []string{"user", "ours"} {
				if r := o.only(t, name); !errors.Is(r.Err, gone) {
					t.Errorf("%s: %+v", name, r)
				}
			}
		})
	})
	t.Run("on a link that ended tells so", func(t *testing.T) {
		t.Parallel()
		m := newBrowser(t, (*peer).echo).dial(t, transport.DialOptions{})
		m.Close()
		<-m.Closed()
		var o outcomes
		m.Start(transport.Call{Method: "A.b", Done: o.of("b")})
		if r := o.only(t, "b"); r.IsSent {
			t.Error("said to be sent")
		} else {
			wantCause(t, r.Err, transport.CauseLocal)
		}
		m.Start(transport.Call{Method: "A.b"})
		if _, err := m.Do(t.Context(), "", "A.b", nil); !errors.Is(err, transport.ErrLinkClosed) {
			t.Errorf("Do: %v", err)
		}
	})
	t.Run("never blocks on a peer that does not read", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			release := make(chan struct{})
			m := newBrowser(t, func(p *peer) { <-release }).dial(t, transport.DialOptions{})
			defer close(release)
			began := time.Now()
			const calls = 20000
			for i := range calls {
				m.Start(transport.Call{Method: "A.b", Params: []byte(`{"a":1}`), Done: o.of(fmt.Sprint(i))})
			}
			if time.Since(began) != 0 {
				t.Error("Start waited")
			}
			if n := o.count(); n < 3000 || n > 4000 {
				t.Errorf("%d calls were refused", n)
			}
			if r := o.only(t, fmt.Sprint(calls-1)); !errors.Is(r.Err, transport.ErrOverloaded) || r.IsSent {
				t.Errorf("refused call: %+v", r)
			}
			<-m.Closed()
			wantCause(t, m.Err(), transport.CauseOverload)
			if d := time.Since(began); d < 9*time.Second || d > 15*time.Second {
				t.Errorf("the link ended after %v", d)
			}
			if r := o.only(t, "1"); r.IsSent {
				t.Error("a call that was never written is said to be sent")
			}
			if r := o.only(t, "0"); !r.IsSent {
				t.Error("a call that may have been written is said not to be sent")
			}
			if n := o.count(); n != calls {
				t.Errorf("%d outcomes of %d", n, calls)
			}
		})
	})
	t.Run("of a guest comes behind all others and leaves room for them", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			release := make(chan struct{})
			got := make(chan string, 20000)
			m := newBrowser(t, func(p *peer) {
				<-release
				for c, ok := p.read(); ok; c, ok = p.read() {
					got <- c.Method
				}
			}).dial(t, transport.DialOptions{})
			for i := range 20000 {
				m.Start(transport.Call{Method: fmt.Sprintf("A.guest%d", i), IsGuest: true, Done: o.of("guest")})
			}
			synctest.Wait() // the first is being written
			refused := o.count()
			if refused < 20000/4 {
				t.Fatalf("%d of the guest's commands were refused", refused)
			}
			m.Start(transport.Call{Method: "A.own", Done: o.of("own")})
			close(release)
			synctest.Wait()
			if o.count() != refused {
				t.Errorf("%d more were refused", o.count()-refused)
			}
			if first, second := <-got, <-got; first != "A.guest0" || second != "A.own" {
				t.Errorf("%s and %s come first", first, second)
			}
			for i := 1; i < 20000-refused; i++ {
				if method := <-got; method != fmt.Sprintf("A.guest%d", i) {
					t.Fatalf("%s in the place of guest %d", method, i)
				}
			}
			m.Close()
			<-m.Closed()
		})
	})
	t.Run("a cancelled command is not written any more", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var o outcomes
			release := make(chan struct{})
			got := make(chan string, 3)
			m := newBrowser(t, func(p *peer) {
				<-release
				for c, ok := p.read(); ok; c, ok = p.read() {
					got <- c.Method
				}
			}).dial(t, transport.DialOptions{})
			m.Start(transport.Call{Method: "A.first", Done: o.of("first")})
			id := m.Start(transport.Call{Method: "A.second", Done: o.of("second")})
			m.Start(transport.Call{Method: "A.third", Done: o.of("third")})
			synctest.Wait()
			m.Cancel(id, errors.New("stop"))
			if o.only(t, "second").IsSent {
				t.Error("said to be sent")
			}
			close(release)
			if a, b := <-got, <-got; a != "A.first" || b != "A.third" {
				t.Errorf("written: %s, %s", a, b)
			}
		})
	})
}

func TestReplies(t *testing.T) {
	t.Parallel()
	t.Run("that belong to no call are counted", func(t *testing.T) {
		t.Parallel()
		var stats transport.Stats
		m := newBrowser(t, func(p *peer) {
			c, _ := p.read()
			p.say(`{"id":%d,"result":{}}`, c.ID)
			p.say(`{"id":%d,"result":{}}`, c.ID)
			for _, id := range []string{"77", "-1", "0", "4294967298", "999999999999999999"} {
				p.say(`{"id":%s,"result":{}}`, id)
			}
			p.say(noID)
			p.say(`{"hello":1}`)
			p.say(`{"id":2,"method":"Browser.getVersion"}`)
			p.echo()
		}).dial(t, transport.DialOptions{Stats: &stats})
		for range 2 {
			if _, err := m.Do(within(t), "", "A.b", nil); err != nil {
				t.Fatal(err)
			}
		}
		late, unknown := stats.RepliesLate.Load(), stats.RepliesUnknown.Load()
		if late+unknown != 6 || late < 1 || stats.ErrorsWithout.Load() != 1 || stats.Strange.Load() != 2 {
			t.Errorf("late %d, unknown %d, without id %d, strange %d", late, unknown, stats.ErrorsWithout.Load(), stats.Strange.Load())
		}
	})
	t.Run("nobody waits for are dropped", func(t *testing.T) {
		t.Parallel()
		var stats transport.Stats
		m := newBrowser(t, (*peer).echo).dial(t, transport.DialOptions{Stats: &stats})
		m.Start(transport.Call{Method: "A.forgotten"})
		if _, err := m.Do(within(t), "", "A.b", nil); err != nil {
			t.Fatal(err)
		}
		if stats.MessagesIn() != 2 || stats.RepliesLate.Load()+stats.RepliesUnknown.Load() != 0 {
			t.Errorf("in %d, late %d, unknown %d", stats.MessagesIn(), stats.RepliesLate.Load(), stats.RepliesUnknown.Load())
		}
	})
	t.Run("too large end their call and not the link", func(t *testing.T) {
		t.Parallel()
		for name, tc := range map[string]struct {
			reply string
			err   error
		}{
			"id in front":      {`{"id":%d,"result":{"a":"%s"}}`, transport.ErrTooLarge},
			"id at the end":    {`{"result":{"id":77,"a":"%[2]s"},"id":%[1]d}`, transport.ErrTooLarge},
			"id not to be had": {`{"result":{"id":%[1]d,"a":"%[2]s"},"sessionId":"S"}`, transport.ErrTimeout},
			"an event":         {`{"method":"A.event","params":{"id":%d,"a":"%s"}}`, transport.ErrTimeout},
		} {
			for size, max := range map[int]int64{8 << 10: 4 << 10, 3 << 20: 2 << 20, 300: 100} {
				t.Run(fmt.Sprint(name, size), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						var stats transport.Stats
						m := newBrowser(t, func(p *peer) {
							c, _ := p.read()
							p.say(tc.reply, c.ID, strings.Repeat("x", size))
							p.echo()
						}).dial(t, transport.DialOptions{MaxMessage: max, Stats: &stats, Events: []string{"A.event"}})
						ctx, cancel := context.WithTimeout(t.Context(), time.Second)
						defer cancel()
						if _, err := m.Do(ctx, "", "A.b", nil); !errors.Is(err, tc.err) {
							t.Errorf("error %v, want %v", err, tc.err)
						}
						if _, err := m.Do(t.Context(), "", "A.b", nil); err != nil || stats.Oversized.Load() != 1 {
							t.Errorf("after it: %v, %d oversized", err, stats.Oversized.Load())
						}
					})
				})
			}
		}
	})
	t.Run("of 64 MiB end their call and not the link", func(t *testing.T) {
		t.Parallel()
		var stats transport.Stats
		// Made before there is a link: it takes a slow machine longer than a ping waits.
		reply := fmt.Appendf(nil, `{"id":%10d,"result":{"a":"%s"}}`, 0, strings.Repeat("x", 64<<20))
		m := newBrowser(t, func(p *peer) {
			c, _ := p.read()
			copy(reply, fmt.Appendf(nil, `{"id":%10d`, c.ID))
			_ = p.conn.Write(context.Background(), websocket.MessageText, reply)
			p.echo()
		}).dial(t, transport.DialOptions{Stats: &stats})
		if _, err := m.Do(within(t), "", "A.b", nil); !errors.Is(err, transport.ErrTooLarge) {
			t.Errorf("error %v", err)
		}
		if _, err := m.Do(within(t), "", "A.b", nil); err != nil || stats.BytesIn() < 64<<20 {
			t.Errorf("after it: %v, %d bytes", err, stats.BytesIn())
		}
	})
	t.Run("of every size below the limit arrive whole", func(t *testing.T) {
		t.Parallel()
		const limit = 2 << 20
		m := newBrowser(t, func(p *peer) {
			for c, ok := p.read(); ok; c, ok = p.read() {
				var size int
				_, _ = fmt.Sscanf(string(c.Params), `{"size":%d}`, &size)
				head := fmt.Sprintf(`{"id":%d,"result":"`, c.ID)
				p.say("%s", head+strings.Repeat("x", size-len(head)-2)+`"}`)
			}
		}).dial(t, transport.DialOptions{MaxMessage: limit})
		for _, near := range []int{100, 4 << 10, 64 << 10, 256 << 10, 1 << 20, limit} {
			for size := near - 1; size <= min(near+1, limit); size++ {
				got, err := m.Do(within(t), "", "A.b", fmt.Appendf(nil, `{"size":%d}`, size))
				if err != nil || len(got) < size-40 || strings.Trim(string(got), `"x`) != "" {
					t.Errorf("size %d: %d bytes, %v", size, len(got), err)
				}
			}
		}
		if _, err := m.Do(within(t), "", "A.b", fmt.Appendf(nil, `{"size":%d}`, limit+1)); !errors.Is(err, transport.ErrTooLarge) {
			t.Errorf("one byte more: %v", err)
		}
	})
}
