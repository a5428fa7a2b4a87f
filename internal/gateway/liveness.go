package gateway

import (
	"net"
	"time"
)

// How soon the kernel notices that a client is gone without a word. A WebSocket ping would
// end the session of a chromedp, and the process of a rod.
const (
	aliveIdle    = 5 * time.Second
	aliveEach    = time.Second
	aliveMissing = 4
	aliveUnacked = 10 * time.Second
)

// watch has the kernel end a connection whose peer answers nothing for about ten seconds.
func watch(conn net.Conn) {
	tcp := tcpOf(conn)
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
