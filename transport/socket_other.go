//go:build !linux

package transport

import "net"

// socket is the socket below a connection. Only Linux tells how much a socket takes at
// once; elsewhere every command is written by the link's own writer.
type socket struct{ tcp *net.TCPConn }

// socketOf returns the socket below a connection.
func socketOf(below net.Conn) socket {
	tcp, _ := tcpOf(below)
	return socket{tcp: tcp}
}

// hasUnread says that nothing is known to be unread.
func (s socket) hasUnread() bool { return false }

// canWrite implements taker: no write is known to end at once.
func (s socket) canWrite() bool { return false }

// dropUnsent has the socket's end drop what the peer has not taken, in place of
// delivering it later: a link that is lost says nothing any more.
func (s socket) dropUnsent() {
	if s.tcp != nil {
		_ = s.tcp.SetLinger(0) // a socket that is closed already has nothing to drop
	}
}

// pipeRoom returns what tells whether a pipe takes [maxDirect] bytes at once: none is
// known to.
func pipeRoom(PipeEnd) func() bool { return func() bool { return false } }
