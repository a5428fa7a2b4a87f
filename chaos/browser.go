package chaos

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"holdfast/messages"
)

const (
	version    = "156.0.8078.79"
	product    = "Chrome/" + version
	jsVersion  = "15.6.75.27"
	revision   = "@a21ce95c24ce3964416f09ae1862f53f319eb4d0"
	userAgent  = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/156.0.0.0 Safari/537.36"
	pathPrefix = "/devtools/browser/"
)

// Browser is a fake browser. Its exported methods are safe for concurrent use
// and never wait for a client.
//
// Unexported methods and those of the types below it expect mu to be held.
type Browser struct {
	options  Options
	guid     string
	context  string   // browserContextId of the default context
	contexts []string // those that clients have made

	handlers sync.WaitGroup

	mu         sync.Mutex
	ids        ids
	conns      []*Conn // open ones, in the order they came
	targets    []*target
	pages      []*page
	front      *page // the foremost tab
	dials      int   // WebSockets that were opened
	handshakes int   // and those that were asked for
	isRefusing bool
	isDead     bool
	ready      []*proc  // may have work that can be done; see drain
	after      []func() // run once mu is free
}

// New returns a browser with o.Pages tabs. Close ends it.
func New(o Options) *Browser {
	if o.Load == nil {
		o.Load = DefaultDocument
	}
	if o.KeepCommands == 0 {
		o.KeepCommands = 1024
	}
	b := &Browser{options: o, ids: ids{seed: o.Seed}}
	b.do(b.begin)
	return b
}

// begin is the start of the browser process.
func (b *Browser) begin() {
	b.guid = b.ids.guid()
	b.context, b.contexts = b.ids.token(), nil
	for range b.options.Pages {
		b.startIfFree(b.addPage("about:blank", pageOptions{isForeground: true, title: "about:blank"}))
	}
}

// Restart is the death of the browser process and the start of another one at
// the same address: with an id of its own, and none of the pages.
func (b *Browser) Restart() {
	b.do(func() {
		for _, c := range b.conns {
			for _, s := range c.sessions {
				s.isGone = true // no connection is left to report to, nor anything to report
			}
			c.sessions = nil
		}
		b.die()
		b.isDead = false
		b.targets, b.pages, b.front, b.ready = nil, nil, nil, nil
		b.begin()
	})
}

// do runs f with the world locked, then what f put off until it is free.
func (b *Browser) do(f func()) {
	b.mu.Lock()
	f()
	for len(b.ready) > 0 {
		p := b.ready[0]
		b.ready = b.ready[1:]
		b.work(p)
	}
	after := b.after
	b.after = nil
	b.mu.Unlock()
	for _, g := range after {
		g()
	}
}

// Path is the path of the browser's WebSocket, until its restart.
func (b *Browser) Path() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return pathPrefix + b.guid
}

// URL is the WebSocket address of the browser when it is served at host, a
// host:port.
func (b *Browser) URL(host string) string { return "ws://" + host + b.Path() }

// ServeHTTP serves /json/version and the browser's WebSocket, and answers
// like Chrome where it refuses (C55). A dead browser cuts the connection
// without an answer.
func (b *Browser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	dead, refuse := b.isDead, b.isRefusing
	if !dead && !refuse {
		b.handlers.Add(1)
	}
	b.mu.Unlock()
	if dead || refuse {
		panic(http.ErrAbortHandler)
	}
	defer b.handlers.Done()

	switch path := strings.TrimSuffix(r.URL.Path, "/"); {
	case path == "/json/version":
		b.serveVersion(w, r)
	case strings.HasPrefix(path, pathPrefix):
		if r.Header.Get("Origin") != "" {
			http.Error(w, "Rejected an incoming WebSocket connection from the "+r.Header.Get("Origin")+" origin.", http.StatusForbidden)
			return
		}
		if path != b.Path() {
			http.NotFound(w, r)
			return
		}
		// The order of connections is that of their handshakes' beginning: a
		// client that dials twice finds the first one first.
		var number int
		var guid string
		b.do(func() {
			b.handshakes++
			number, guid = b.handshakes, b.guid
		})
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
		if err != nil {
			return // Accept has answered
		}
		b.serve(ws, number, guid, r.Host)
	default:
		http.NotFound(w, r)
	}
}

func (b *Browser) serveVersion(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "   ")
	// The reader's going away is its own affair.
	_ = e.Encode(struct {
		Browser  string `json:"Browser"`
		Paths    string `json:"File-Path-Style"`
		Protocol string `json:"Protocol-Version"`
		Agent    string `json:"User-Agent"`
		V8       string `json:"V8-Version"`
		WebKit   string `json:"WebKit-Version"`
		URL      string `json:"webSocketDebuggerUrl"`
	}{product, "posix", "1.3", userAgent, jsVersion, "537.36 (" + revision + ")", b.URL(r.Host)})
}

// Close drops every connection and waits until their handlers are gone.
func (b *Browser) Close() {
	b.Kill()
	b.handlers.Wait()
}

// Kill is the death of the browser process: every connection breaks without a close frame,
// and new ones are refused.
func (b *Browser) Kill() { b.do(b.die) }

func (b *Browser) die() {
	b.isDead = true
	for _, c := range b.conns {
		c.isGone = true
		c.cancel()
	}
	b.conns = nil
}

// IsDead says whether the browser has been killed, by [Browser.Kill] or by a
// client that touched a poisoned dialog (C15).
func (b *Browser) IsDead() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isDead
}

// RefuseConnections makes every new request, on and off, meet a connection
// that is cut at once. Open connections stay.
func (b *Browser) RefuseConnections(on bool) {
	b.do(func() { b.isRefusing = on })
}

// target returns the target of that id, or nil.
func (b *Browser) target(id messages.TargetID) *target {
	for _, t := range b.targets {
		if t.id == id {
			return t
		}
	}
	return nil
}

// frame returns the frame of that id in any page, or nil.
func (b *Browser) frame(id messages.FrameID) *frame {
	for _, p := range b.pages {
		if f := p.main.find(id); f != nil {
			return f
		}
	}
	return nil
}

// sessions calls f for every live session in the order connections and
// sessions came. f may end sessions.
func (b *Browser) sessions(f func(*session)) {
	for _, c := range append([]*Conn(nil), b.conns...) {
		for _, s := range append([]*session(nil), c.sessions...) {
			if !s.isGone {
				f(s)
			}
		}
	}
}
