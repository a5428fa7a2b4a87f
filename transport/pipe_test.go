package transport_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"holdfast/messages"
	"holdfast/transport"
)

// pipedBrowser is the browser's side of a pipe. It lets clients attach, and gives
// every other command to answer.
type pipedBrowser struct {
	testing.TB
	pipe    *transport.Shared
	in, out net.Conn
	answer  func(c command)

	mu       sync.Mutex
	sessions int
	left     []string // browser sessions that were left
}

const (
	pipeLimit = 64 << 10
	pipeRoom  = 256 << 10
)

func newPipedBrowser(t testing.TB) *pipedBrowser {
	t.Helper()
	ours, theirs := net.Pipe()
	oursOut, theirsOut := net.Pipe()
	b := &pipedBrowser{TB: t, in: theirs, out: theirsOut}
	b.answer = b.echo
	b.pipe = transport.NewSmallPipe(oursOut, ours, pipeLimit, pipeRoom)
	t.Cleanup(func() {
		b.pipe.Close()
		_ = b.in.Close()
		_ = b.out.Close()
	})
	return b
}

// start has the browser read.
func (b *pipedBrowser) start() *pipedBrowser {
	go func() {
		r := bufio.NewReader(b.in)
		for {
			raw, err := r.ReadBytes(0)
			if err != nil {
				return
			}
			var c command
			if err := json.Unmarshal(raw[:len(raw)-1], &c); err != nil {
				b.Errorf("the pipe carries %q: %v", raw, err)
				return
			}
			b.take(c)
		}
	}()
	return b
}

func (b *pipedBrowser) take(c command) {
	switch {
	case c.SessionID != "":
		b.answer(c)
	case c.Method == "Target.attachToBrowserTarget":
		b.mu.Lock()
		b.sessions++
		n := b.sessions
		b.mu.Unlock()
		b.say(`{"id":%d,"result":{"sessionId":"ROOT%d"}}`, c.ID, n)
	case c.Method == "Target.detachFromTarget":
		var p struct{ SessionID string }
		_ = json.Unmarshal(c.Params, &p)
		b.mu.Lock()
		b.left = append(b.left, p.SessionID)
		b.mu.Unlock()
		b.say(`{"id":%d,"result":{}}`, c.ID)
		b.say(`{"method":"Target.detachedFromTarget","params":{"sessionId":%q}}`, p.SessionID)
	default:
		b.say(`{"id":%d,"result":{"product":"Fake"}}`, c.ID)
	}
}

func (b *pipedBrowser) echo(c command) {
	b.say(`{"id":%d,"result":{"method":%q,"session":%q},"sessionId":%q}`, c.ID, c.Method, c.SessionID, c.SessionID)
}

func (b *pipedBrowser) say(format string, args ...any) {
	_, _ = b.out.Write(append(fmt.Appendf(nil, format, args...), 0))
}

func (b *pipedBrowser) open(o transport.DialOptions) *transport.Mux {
	b.Helper()
	m, err := b.pipe.Open(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// overheard keeps what a session was told.
type overheard struct {
	mu   sync.Mutex
	said []string
}

func (h *overheard) sink(e transport.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, string(e.SessionID)+" "+e.Method+" "+string(e.Params))
}

func (h *overheard) all() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.said, "; ")
}

func TestPipeCarriesLinksThatDoNotMeet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newPipedBrowser(t).start()
		events := []string{"Target.attachedToTarget", "Page.loaded"}
		one, two := b.open(transport.DialOptions{Events: events}), b.open(transport.DialOptions{Events: events})
		if one.Browser() == "" || one.Browser() != two.Browser() {
			t.Errorf("browsers %q and %q", one.Browser(), two.Browser())
		}
		for name, m := range map[string]*transport.Mux{"ROOT1": one, "ROOT2": two} {
			got, err := m.Do(within(t), "", "Browser.getVersion", []byte(`{"a":"}"}`))
			if want := fmt.Sprintf(`{"method":"Browser.getVersion","session":%q}`, name); err != nil || string(got) != want {
				t.Errorf("%s: %s, %v", name, got, err)
			}
		}
		var first, second, child overheard
		one.Bind("", first.sink)
		two.Bind("", second.sink)
		b.say(`{"method":"Target.attachedToTarget","params":{"sessionId":"KID"},"sessionId":"ROOT1"}`)
		b.say(`{ "sessionId": "ROOT2", "params": {"n":2}, "method": "Page.loaded" }`)
		b.say(`{"method":"Page.loaded","params":{"n":1},"sessionId":"KID"}`)
		b.say(`{"method":"Page.loaded","params":{"n":3},"sessionId":"NOBODY"}`)
		synctest.Wait()
		one.Bind("KID", child.sink)
		if got, want := first.all(), ` Target.attachedToTarget {"sessionId":"KID"}`; got != want {
			t.Errorf("the first link overheard %s", got)
		}
		if got, want := second.all(), ` Page.loaded {"n":2}`; got != want {
			t.Errorf("the second link overheard %s", got)
		}
		if got, want := child.all(), `KID Page.loaded {"n":1}`; got != want {
			t.Errorf("the first link's page said %s", got)
		}
		if got, err := one.Do(within(t), "KID", "A.b", nil); err != nil || string(got) != `{"method":"A.b","session":"KID"}` {
			t.Errorf("a call to its own page: %s, %v", got, err)
		}
		var rpc *transport.RPCError
		if _, err := two.Do(within(t), "KID", "A.b", nil); !errors.As(err, &rpc) || rpc.Code != -32001 {
			t.Errorf("a call to the other link's page: %v", err)
		}
	})
}

func TestPipeOutlivesALink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newPipedBrowser(t).start()
		one, two := b.open(transport.DialOptions{}), b.open(transport.DialOptions{})
		one.Break()
		<-one.Closed()
		wantCause(t, one.Err(), transport.CauseReset)
		synctest.Wait()
		b.mu.Lock()
		left := strings.Join(b.left, " ")
		b.mu.Unlock()
		if left != "ROOT1" {
			t.Errorf("left %q", left)
		}
		if _, err := two.Do(within(t), "", "A.b", nil); err != nil {
			t.Errorf("the other link: %v", err)
		}
		again := b.open(transport.DialOptions{})
		if got, err := again.Do(within(t), "", "A.b", nil); err != nil || !strings.Contains(string(got), "ROOT3") {
			t.Errorf("the next link: %s, %v", got, err)
		}
		// The browser may end a link's session by itself.
		b.say(`{"method":"Target.detachedFromTarget","params":{"sessionId":"ROOT2"}}`)
		<-two.Closed()
		wantCause(t, two.Err(), transport.CauseReset)
		_ = b.out.Close() // the browser is gone
		<-again.Closed()
		wantCause(t, again.Err(), transport.CauseReset)
		<-b.pipe.Done()
		if _, err := b.pipe.Open(t.Context(), transport.DialOptions{}); messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
			t.Errorf("a link to a browser that is gone: %v", err)
		}
	})
}

func TestPipeBoundsMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newPipedBrowser(t)
		b.answer = func(c command) {
			if c.Method == "A.large" {
				b.say(`{"id":%d,"result":{"x":%q},"sessionId":%q}`, c.ID, strings.Repeat("x", 3*pipeLimit), c.SessionID)
				return
			}
			b.echo(c)
		}
		b.start()
		one, two := b.open(transport.DialOptions{}), b.open(transport.DialOptions{})
		for range 2 {
			if _, err := one.Do(within(t), "", "A.large", nil); !errors.Is(err, transport.ErrTooLarge) {
				t.Errorf("a reply above the limit: %v", err)
			}
			for _, m := range []*transport.Mux{one, two} {
				if _, err := m.Do(within(t), "", "A.small", nil); err != nil {
					t.Errorf("behind it: %v", err)
				}
			}
		}
		if _, err := one.Do(within(t), "", "A.b", []byte("{\"a\":\"\x00\"}")); !errors.Is(err, transport.ErrInvalidCall) {
			t.Errorf("params that would part the command: %v", err)
		}
	})
}

func TestPipeBoundsASlowLink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newPipedBrowser(t).start()
		events := []string{"Page.loaded"}
		slow, quick := b.open(transport.DialOptions{Events: events}), b.open(transport.DialOptions{Events: events})
		hold := make(chan struct{})
		slow.Bind("", func(transport.Event) { <-hold })
		var told overheard
		quick.Bind("", told.sink)
		for range pipeRoom/1024 + 2 {
			b.say(`{"method":"Page.loaded","params":{"x":%q},"sessionId":"ROOT1"}`, strings.Repeat("x", 1024))
		}
		b.say(`{"method":"Page.loaded","params":{},"sessionId":"ROOT2"}`)
		if _, err := quick.Do(within(t), "", "A.b", nil); err != nil {
			t.Errorf("the quick link: %v", err)
		}
		if told.all() != " Page.loaded {}" {
			t.Errorf("the quick link overheard %q", told.all())
		}
		close(hold)
		<-slow.Closed()
		wantCause(t, slow.Err(), transport.CauseFlood)
	})
}

// TestPipeOfABrowserThatDoesNotRead: a link that ends is not held up, and the other's
// commands are whole.
func TestPipeOfABrowserThatDoesNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newPipedBrowser(t)
		got := make(chan string, 16)
		b.answer = func(c command) {
			got <- c.SessionID + " " + c.Method
			b.echo(c)
		}
		stop := make(chan struct{})
		go func() { // reads two commands, and half of the third
			r := bufio.NewReaderSize(b.in, 16)
			for range 2 {
				raw, _ := r.ReadBytes(0)
				var c command
				_ = json.Unmarshal(raw[:len(raw)-1], &c)
				b.take(c)
			}
			half, _ := r.ReadBytes('T') // of "ROOT1", in the session's id
			<-stop
			rest, _ := r.ReadBytes(0)
			var c command
			if err := json.Unmarshal(append(half, rest[:len(rest)-1]...), &c); err != nil {
				t.Errorf("a torn command: %q %q", half, rest)
			}
			b.answer(c)
			for {
				raw, err := r.ReadBytes(0)
				if err != nil {
					return
				}
				c = command{}
				if err := json.Unmarshal(raw[:len(raw)-1], &c); err != nil {
					t.Errorf("a torn command: %q", raw)
				}
				b.take(c)
			}
		}()
		one, two := b.open(transport.DialOptions{}), b.open(transport.DialOptions{})
		one.Start(transport.Call{Method: "A.half"})
		synctest.Wait()
		one.Close()
		<-one.Closed()
		done := make(chan error, 1)
		go func() {
			_, err := two.Do(within(t), "", "A.whole", nil)
			done <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := b.pipe.Open(ctx, transport.DialOptions{}); messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
			t.Errorf("attached to a browser that does not read: %v", err)
		}
		close(stop)
		if err := <-done; err != nil {
			t.Errorf("the other link: %v", err)
		}
		if first := <-got; first != "ROOT1 A.half" {
			t.Errorf("the browser read %q first", first)
		}
		synctest.Wait()
		b.mu.Lock()
		defer b.mu.Unlock()
		if strings.Join(b.left, " ") != "ROOT1 ROOT3" {
			t.Errorf("left %q: one that had ended, and one that came too late", b.left)
		}
	})
}

func TestPipeKeepsAliveByAsking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newPipedBrowser(t).start()
		m := b.open(transport.DialOptions{KeepAlive: time.Second})
		time.Sleep(time.Minute)
		if m.Err() != nil {
			t.Fatalf("a browser that answers: %v", m.Err())
		}
		// From now on it reads and says nothing.
		_ = b.in.SetReadDeadline(time.Now())
		time.Sleep(time.Minute)
		<-m.Closed()
		wantCause(t, m.Err(), transport.CauseHalfOpen)
	})
}

// TestPipeManyLinks: each of many calls over many links that come and go has the
// outcome that is its own.
func TestPipeManyLinks(t *testing.T) {
	t.Parallel()
	b := newPipedBrowser(t).start()
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for j := range 8 {
				m, err := b.pipe.Open(t.Context(), transport.DialOptions{})
				if err != nil {
					t.Error(err)
					return
				}
				for k := range 10 {
					method := fmt.Sprintf("T.m%dx%dx%d", i, j, k)
					got, err := m.Do(t.Context(), "", method, nil)
					if err != nil || !strings.Contains(string(got), method+`"`) {
						t.Errorf("%s: %s, %v", method, got, err)
					}
				}
				if j%2 == 0 {
					m.Start(transport.Call{Method: "T.last"})
				}
				m.Close()
				<-m.Closed()
			}
		})
	}
	all.Wait()
}

// FuzzPipeReader: messages come out whole, in whatever piecemeal they come in.
func FuzzPipeReader(f *testing.F) {
	f.Add([]byte("{}\x00{\"id\":1}\x00\x00abcdefghijklmnopqrstuvwxyz\x00rest"), uint8(3), uint8(10))
	f.Fuzz(func(t *testing.T, stream []byte, piece, limit uint8) {
		bound := int(limit) + 1
		var want []string
		parts := strings.Split(string(stream), "\x00")
		for _, p := range parts[:len(parts)-1] {
			switch {
			case len(p) > bound:
				want = append(want, p[:bound+1]+"\x00"+p[max(0, len(p)-512):])
			case p != "":
				want = append(want, p)
			}
		}
		var got []string
		transport.SplitPipe(&piecemeal{stream, int(piece) + 1}, bound, func(msg, tail []byte) {
			if tail == nil {
				got = append(got, string(msg))
				return
			}
			got = append(got, string(msg)+"\x00"+string(tail))
		})
		if len(got) != len(want) {
			t.Fatalf("%d messages, want %d", len(got), len(want))
		}
		for i := range got {
			head, tail, cut := strings.Cut(want[i], "\x00")
			gotHead, gotTail, gotCut := strings.Cut(got[i], "\x00")
			if head != gotHead || cut != gotCut || tail != gotTail {
				t.Fatalf("message %d is %q, want %q", i, got[i], want[i])
			}
		}
	})
}

type piecemeal struct {
	left []byte
	size int
}

func (p *piecemeal) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, errors.New("over")
	}
	n := copy(b, p.left[:min(p.size, len(p.left))])
	p.left = p.left[n:]
	return n, nil
}
