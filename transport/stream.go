package transport

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/coder/websocket"
)

// Socket carries the messages of one link: a WebSocket, one client's part of a [Shared], or
// what a caller of [NewMux] has. One goroutine reads and one writes at a time. An error
// may be a *[LinkError], which then says why the link has ended.
type Socket interface {
	// Reader waits for the next message, which is text. Ending ctx ends the Socket.
	Reader(ctx context.Context) (websocket.MessageType, io.Reader, error)
	Write(ctx context.Context, kind websocket.MessageType, msg []byte) error
	// Ping returns once the peer has answered it.
	Ping(ctx context.Context) error
	// CloseNow ends the Socket, and with it a Reader and a Write that wait.
	CloseNow() error
}

// taker tells whether a short write would have to wait. Where it would not, the
// write follows at once.
type taker interface{ canWrite() bool }

// brink tells when the reader may have to wait, and when something has come.
type brink interface {
	watch(dry, heard func())
}

// connection is a Socket with what else is known of it.
type connection struct {
	Socket
	taker taker
	brink brink         // nil where it cannot be told when the reader may have to wait
	pong  time.Duration // how long the peer may take to answer a Ping
	// Of a link over a connection that it shares; else nil and false.
	isLively  func() bool      // see [sharedSocket.isLively]
	silent    func(*LinkError) // ends the connection, whose peer has not answered a ping
	isPoliced bool             // the connection has a deadline for each write of its own
	// last has the next write ask for permission once it has its turn; nil where a write waits
	// for none.
	last func(mayDecide func() error)
}

// hasUnread says whether something has come that is not read, where that can be told.
func (c connection) hasUnread() bool {
	if c.isLively != nil {
		return c.isLively()
	}
	s, ok := c.taker.(socket)
	return ok && s.hasUnread()
}

// dropUnsent is for a link that is lost, before its end.
func (c connection) dropUnsent() {
	if s, ok := c.taker.(socket); ok {
		s.dropUnsent()
	}
}

// overWebSocket is the connection of a WebSocket that runs over below.
func overWebSocket(ws *websocket.Conn, below net.Conn) connection {
	c := connection{Socket: ws, taker: socketOf(below), pong: pongTimeout}
	if t := tapOf(below); t != nil {
		c.brink = t
	}
	return c
}
