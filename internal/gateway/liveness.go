package gateway

import (
	"context"
	"net"
	"time"

	"github.com/coder/websocket"
)

// How soon the kernel notices that a client is gone without a word. A WebSocket ping would
// end the session of a chromedp, and the process of a rod.
const (
	aliveIdle    = 5 * time.Second
	aliveEach    = time.Second
	aliveMissing = 4
	aliveUnacked = 10 * time.Second
)

// pinging is how often a client is pinged that can take it, and how long it may take to
// answer: together less than ten seconds.
type pinging struct{ every, patience time.Duration }

var usualPinging = pinging{every: 4 * time.Second, patience: 5 * time.Second}

// beginPings has the client pinged from now on. What stands between it and the node may
// answer the kernel for it, and answers no ping. It is called on the client's reader.
func (c *client) beginPings() {
	if c.opts.IsFragile || c.pings != nil {
		return
	}
	c.pings = time.AfterFunc(time.Hour, c.ping) // not before it has a name
	c.pings.Reset(c.hub.g.pinging.every)
}

// endPings ends it, on the client's reader. A ping may still be under way.
func (c *client) endPings() {
	if c.pings != nil {
		c.pings.Stop()
	}
}

// ping ends the connection of a client that does not answer. While a message is being
// written, which a ping would have to wait for, the kernel sees to it.
func (c *client) ping() {
	if !c.isWriting.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), c.hub.g.pinging.patience)
		err := c.conn.Ping(ctx)
		cancel()
		if err != nil {
			c.isSilent.Store(true)
			c.end(websocket.StatusPolicyViolation, "no ping is answered")
			_ = c.conn.CloseNow()
			return
		}
	}
	if !c.ending.Load() {
		c.pings.Reset(c.hub.g.pinging.every)
	}
}

// watch has the kernel end a connection whose peer answers nothing for about ten seconds.
func watch(tcp *net.TCPConn) {
	if tcp == nil {
		return
	}
	_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: aliveIdle, Interval: aliveEach, Count: aliveMissing})
	limitUnacked(tcp, aliveUnacked)
}

// tcpOf is the TCP connection below a connection, nil where there is none.
func tcpOf(conn net.Conn) *net.TCPConn {
	for conn != nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			return tcp
		}
		below, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		conn = below.NetConn()
	}
	return nil
}
