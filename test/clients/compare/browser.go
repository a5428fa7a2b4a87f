package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"time"

	"holdfast/internal/browser"
)

// chromium is a real browser with a proxy before its port, whose connections can be cut.
type chromium struct {
	manager  *browser.Manager
	address  string // by way of the proxy
	target   string
	listener net.Listener

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

// launch starts a browser in which iframes of other sites are processes of their own.
func launch(ctx context.Context, state string) (*chromium, error) {
	m, err := browser.NewManager(browser.Options{
		StateDir: state, Logger: slog.New(slog.DiscardHandler), Transport: browser.TransportPort, Isolation: browser.IsolationOff,
		ExtraArgs: []string{"--site-per-process", "--host-resolver-rules=MAP *.test 127.0.0.1"},
	})
	if err != nil {
		return nil, err
	}
	c := &chromium{manager: m, conns: map[net.Conn]struct{}{}}
	p, err := m.Launch(ctx, browser.LaunchOptions{IsHeadless: true})
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	u, err := url.Parse(p.Endpoint().Reveal())
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	c.target = u.Host
	if c.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, errors.Join(err, c.close())
	}
	go c.accept()
	u.Host = c.listener.Addr().String()
	c.address = u.String()
	return c, nil
}

func (c *chromium) accept() {
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return
		}
		upstream, err := net.Dial("tcp", c.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		c.mu.Lock()
		c.conns[client], c.conns[upstream] = struct{}{}, struct{}{}
		c.mu.Unlock()
		go c.pump(client, upstream)
		go c.pump(upstream, client)
	}
}

func (c *chromium) pump(to, from net.Conn) {
	_, _ = io.Copy(to, from) // its end is the connection's
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = to.Close(), from.Close()
	delete(c.conns, to)
	delete(c.conns, from)
}

// cut ends every connection to the browser; later ones are taken.
func (c *chromium) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		_ = conn.Close()
	}
}

func (c *chromium) close() error {
	if c.listener != nil {
		_ = c.listener.Close()
		c.cut()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := c.manager.Close(ctx); err != nil {
		return fmt.Errorf("end Chromium: %w", err)
	}
	return nil
}
