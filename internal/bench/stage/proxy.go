package stage

import (
	"io"
	"net"
	"sync"
)

// Proxy stands between clients and a browser and cuts their connections.
type Proxy struct {
	listener net.Listener
	target   string

	mu   sync.Mutex
	open map[net.Conn]net.Conn // clients, and the other half of each
}

// StartProxy starts one to target, a host and port.
func StartProxy(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, target: target, open: map[net.Conn]net.Conn{}}
	go p.accept()
	return p, nil
}

// Addr is where it listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Close ends it and every connection.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.Cut()
}

// Cut resets every connection, on both sides, and returns how many.
func (p *Proxy) Cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.open)
	for client, upstream := range p.open {
		for _, c := range []net.Conn{client, upstream} {
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // a reset, not a farewell
			}
			_ = c.Close()
		}
		delete(p.open, client)
	}
	return n
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		upstream, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.open[client] = upstream
		p.mu.Unlock()
		end := func(to, from net.Conn) {
			_, _ = io.Copy(to, from) // either side's end ends both
			_ = client.Close()
			_ = upstream.Close()
			p.mu.Lock()
			delete(p.open, client)
			p.mu.Unlock()
		}
		go end(client, upstream)
		go end(upstream, client)
	}
}
