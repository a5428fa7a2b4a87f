package acceptance_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/chromiumtest"
	"holdfast/messages"
)

// backend is a service that stands before browsers and has rules of its own.
// admit decides over the n-th WebSocket, from 1: the browser it gets, or nil for
// a refusal.
type backend struct {
	admit func(n int) *chromiumtest.Browser

	mu    sync.Mutex
	n     int
	open  map[int]context.CancelFunc
	alone bool // a new connection ends the one before
}

func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	b.n++
	n := b.n
	browser := b.admit(n)
	if browser == nil {
		b.mu.Unlock()
		http.Error(w, "one connection at a time", http.StatusTooManyRequests)
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if b.alone {
		for _, end := range b.open {
			end()
		}
	}
	b.open[n] = cancel
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.open, n)
	}()
	at, err := url.Parse(browser.WS())
	if err != nil {
		panic(err)
	}
	(&httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL.Scheme, p.Out.URL.Host, p.Out.URL.Path = "http", at.Host, at.Path
		p.Out.Host = at.Host
	}, ErrorLog: log.New(io.Discard, "", 0)}).ServeHTTP(w, r.WithContext(ctx))
}

func (b *backend) dials() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n
}

// up is how many connections are open.
func (b *backend) up() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.open)
}

// drop ends all connections.
func (b *backend) drop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, end := range b.open {
		end()
	}
}

// serve starts the backend before the node, so that it outlives it.
func (b *backend) serve(t *testing.T) (address func(*messages.TaskSpec)) {
	t.Helper()
	b.open = map[int]context.CancelFunc{}
	server := httptest.NewServer(b)
	t.Cleanup(func() { b.drop(); server.Close() })
	return at(t, strings.Replace(server.URL, "http://", "ws://", 1)+"/devtools/browser/any")
}

// works says that a task does its work with the one link it has.
func (k *task) works() {
	k.Helper()
	k.goTo("http://a.test/oopif-prompt")
	child := k.frame("/prompt")
	k.later(child.FrameID, "ask()")
	k.dialog()
	k.accept("one link")
	if got := k.eval(child.FrameID, "got"); got != `"one link"` {
		k.Errorf("the frame got %s", got)
	}
}

func (k *task) withoutAnchor(why messages.AnchorOff) *messages.Snapshot {
	k.Helper()
	return k.await("no anchor: "+string(why), func(s *messages.Snapshot) bool {
		return s.State == messages.StateActive && s.Connection.Primary == messages.LinkUp &&
			s.Connection.Anchor == messages.LinkDown && s.Connection.AnchorOff == why
	})
}

func TestAnchor_IsOffWhereThereCanBeNone(t *testing.T) {
	t.Parallel()
	t.Run("each connection gets a browser of its own", func(t *testing.T) {
		t.Parallel()
		b, other := chromiumtest.Shared(t), chromiumtest.Launch(t)
		service := &backend{admit: func(n int) *chromiumtest.Browser {
			if n == 2 {
				return other
			}
			return b
		}}
		address := service.serve(t)
		r := setupOn(t, b)
		k := r.task("foreign", address)
		k.withoutAnchor(messages.AnchorOffForeign)
		k.works()
		until(t, "one connection", func() bool { return service.up() == 1 })
		// Nothing of the other browser's was kept or changed.
		list := slices.DeleteFunc(targets(t, chromiumtest.Dial(t, other.WS())), func(i target) bool { return i.Type != "page" })
		if len(list) != 1 || list[0].Attached || list[0].URL != "about:blank" {
			t.Errorf("the other browser has %+v", list)
		}
		if c := k.snapshot().Connection; c.Reconnects != 0 || service.dials() != 2 {
			t.Errorf("%+v after %d dials", c, service.dials())
		}
	})
	t.Run("a new connection ends the one before", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Shared(t)
		service := &backend{alone: true, admit: func(int) *chromiumtest.Browser { return b }}
		address := service.serve(t)
		k := setupOn(t, b).task("single", address)
		k.withoutAnchor(messages.AnchorOffSingle)
		dials := service.dials()
		k.works()
		stays(t, "one connection, the same", 2*time.Second, func() bool { return service.up() == 1 && service.dials() == dials })
		if c := k.snapshot().Connection; c.Reconnects > 5 {
			t.Errorf("%d reconnects until that was known", c.Reconnects)
		}
	})
	t.Run("a second connection is refused", func(t *testing.T) {
		t.Parallel()
		b := chromiumtest.Shared(t)
		service := &backend{}
		service.admit = func(int) *chromiumtest.Browser {
			if len(service.open) > 0 {
				return nil
			}
			return b
		}
		address := service.serve(t)
		k := setupOn(t, b).task("refused", address)
		k.works() // all the while
		// What it is given up after takes half a minute.
		k.awaitFor(2*time.Minute, "no anchor", func(s *messages.Snapshot) bool { return s.Connection.AnchorOff == messages.AnchorOffUnreachable })
		k.works()
		if c := k.snapshot().Connection; c.Reconnects != 0 || c.Primary != messages.LinkUp {
			t.Errorf("%+v", c)
		}
	})
	t.Run("the spec wants none", func(t *testing.T) {
		t.Parallel()
		r, p := proxied(t, chromiumtest.Shared(t))
		askingPages(r)
		k := r.task("off", r.through(p), oneLink)
		k.withoutAnchor(messages.AnchorOffSpec)
		k.works()
		if n := p.Dials(); n != 1 {
			t.Errorf("%d dials", n)
		}
		// An orphaned beforeunload could not be saved (C20): no agent is asked.
		l := places["the page"](k)
		k.runs(l, "setTimeout(() => ask('beforeunload')); 0")
		if c := k.closed("d-2"); c.ClosedBy != messages.ClosedByAutoPolicy || c.Action != messages.ActionAccept {
			t.Errorf("beforeunload %+v", c)
		}
	})
}
