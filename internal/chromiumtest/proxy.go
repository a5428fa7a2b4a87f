package chromiumtest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// FaultProxy is a TCP proxy in front of a DevTools port. Its methods are safe
// for concurrent use.
type FaultProxy struct {
	addr string
	port *keptPort

	mu        sync.Mutex
	target    string
	listener  net.Listener // nil while refusing
	isClosed  bool
	stalled   chan struct{} // closed by Resume; nil when not stalled
	isHolding bool          // every new connection is held
	open      map[*proxied]struct{}
	dials     int
	messages  []Message
	running   sync.WaitGroup
}

// Message is a WebSocket text message that went through the proxy.
type Message struct {
	Conn         int  // number of the connection, from 1
	IsFromClient bool // else from the browser
	At           time.Time
	Payload      []byte
}

// proxied is one connection and its other half.
type proxied struct {
	number           int
	client, upstream net.Conn
	first            []byte        // the client's first message
	held             chan struct{} // closed by Release and by the end; nil when not held
	until            []byte        // what the client says before the browser's word is held
	mute             chan struct{} // and then it is: as held
	isWaiting        bool          // the browser has said something since
	delay            time.Duration
}

// Proxy starts a proxy to target, a host and port; it ends with the test.
func Proxy(t testing.TB, target string) *FaultProxy {
	t.Helper()
	listener, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatalf("fault proxy: %v", err)
	}
	port, err := keepPort(listener.Addr())
	if err != nil {
		_ = listener.Close()
		t.Fatalf("fault proxy: keep the port: %v", err)
	}
	p := &FaultProxy{target: target, addr: listener.Addr().String(), port: port, listener: listener, open: map[*proxied]struct{}{}}
	p.running.Go(func() { p.accept(listener) })
	t.Cleanup(p.close)
	return p
}

// Addr is where the proxy listens.
func (p *FaultProxy) Addr() string { return p.addr }

// URL is raw with the proxy's address in place of its own.
func (p *FaultProxy) URL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	u.Host = p.addr
	return u.String()
}

// Dials is how many connections were accepted, ever.
func (p *FaultProxy) Dials() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dials
}

// Open is how many connections are open now.
func (p *FaultProxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}

// KillAll resets every open connection, on both sides, and returns how many.
func (p *FaultProxy) KillAll() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.open)
	for c := range p.open {
		c.reset()
		delete(p.open, c)
	}
	return n
}

// Lead makes every later connection lead to target: what stands there has been
// replaced.
func (p *FaultProxy) Lead(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Kill resets the connection with this number, if it is open.
func (p *FaultProxy) Kill(number int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.find(number)
	if c == nil {
		return false
	}
	c.reset()
	delete(p.open, c)
	return true
}

// Stall lets nothing pass any more, in either direction, while every
// connection stays open: what a dead NAT entry or a stopped machine does.
func (p *FaultProxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled == nil {
		p.stalled = make(chan struct{})
	}
}

// Resume ends Stall and passes on what was held.
func (p *FaultProxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled != nil {
		close(p.stalled)
		p.stalled = nil
	}
}

// Refuse stops listening: a dial gets "connection refused". Open connections
// are not touched.
func (p *FaultProxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
}

// Accept ends Refuse.
func (p *FaultProxy) Accept(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil || p.isClosed {
		return
	}
	listener, err := listen(p.addr)
	if err != nil {
		t.Fatalf("fault proxy: listen again: %v", err)
	}
	p.listener = listener
	p.running.Go(func() { p.accept(listener) })
}

// Messages returns the text messages so far, in the order they came to the
// proxy. The order within one direction of one connection is exact.
func (p *FaultProxy) Messages() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Message{}, p.messages...)
}

// Forget drops the messages recorded so far.
func (p *FaultProxy) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages = nil
}

func (p *FaultProxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		p.dials++
		c := &proxied{number: p.dials, client: client}
		if p.isHolding {
			c.held = make(chan struct{})
		}
		if p.isClosed {
			c.reset()
		} else {
			p.open[c] = struct{}{}
			p.running.Go(func() { p.carry(c) })
		}
		p.mu.Unlock()
	}
}

func (p *FaultProxy) carry(c *proxied) {
	defer func() {
		p.mu.Lock()
		c.reset()
		delete(p.open, c)
		p.mu.Unlock()
	}()
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	upstream, err := net.DialTimeout("tcp", target, Patience)
	if err != nil {
		return
	}
	p.mu.Lock()
	_, stillOpen := p.open[c]
	c.upstream = upstream
	p.mu.Unlock()
	if !stillOpen { // killed while dialling
		_ = upstream.Close()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.pump(c, upstream, c.client, true) })
	both.Go(func() { p.pump(c, c.client, upstream, false) })
	both.Wait()
}

func (p *FaultProxy) pump(c *proxied, to, from net.Conn, fromClient bool) {
	frames := newFrameReader(func(payload []byte) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if fromClient && c.first == nil {
			c.first = payload
		}
		if fromClient && c.until != nil && bytes.Contains(payload, c.until) {
			c.until, c.mute = nil, make(chan struct{})
		}
		p.messages = append(p.messages, Message{Conn: c.number, IsFromClient: fromClient, At: time.Now(), Payload: payload})
	})
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !p.pass(c, fromClient) {
				return
			}
			frames.write(buffer[:n])
			if _, werr := to.Write(buffer[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			p.awaitRelease(c)
			// A half-closed WebSocket is of no use: both halves end together,
			// in the way this one ended.
			if errors.Is(err, io.EOF) {
				_ = to.Close()
			}
			p.mu.Lock()
			c.reset()
			p.mu.Unlock()
			return
		}
	}
}

// pass waits while the proxy or the connection is stalled, or slow, and says
// whether the connection is still open then.
func (p *FaultProxy) pass(c *proxied, fromClient bool) bool {
	delayed := false
	for {
		p.mu.Lock()
		stalled, held, delay := p.stalled, c.held, c.delay
		var mute chan struct{}
		if !fromClient {
			mute = c.mute
			c.isWaiting = c.isWaiting || mute != nil
		}
		_, open := p.open[c]
		p.mu.Unlock()
		switch {
		case !open:
			return false
		case stalled != nil:
			<-stalled
		case held != nil:
			<-held
		case mute != nil:
			<-mute
		case delay > 0 && !delayed:
			delayed = true
			<-time.After(delay)
		default:
			return true
		}
	}
}

// reset ends both halves with RST; the proxy's lock is held.
func (c *proxied) reset() {
	for _, conn := range []net.Conn{c.client, c.upstream} {
		if tcp, ok := conn.(*net.TCPConn); ok && tcp != nil {
			_ = tcp.SetLinger(0)
			_ = tcp.Close()
		}
	}
	c.release()
}

func (p *FaultProxy) close() {
	p.mu.Lock()
	p.isClosed = true
	p.mu.Unlock()
	p.Refuse()
	p.KillAll()
	p.Resume()
	p.running.Wait()
	p.port.release()
}
