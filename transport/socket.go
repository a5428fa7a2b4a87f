package transport

import "net"

// maxDirect is how long a command may be, in bytes, that is written on its
// caller's goroutine. A socket that says it takes more has room for it: Linux
// says so while a third of the least send buffer, 16 KiB, is free. A pipe takes 4 KiB
// at once, of which a [Shared] adds a session's id and its end.
const maxDirect = 4<<10 - 256

// tcpOf looks past net/http and the WebSocket to a plain socket. A connection
// of another type may do more than pass bytes on.
func tcpOf(below net.Conn) (tcp *net.TCPConn, ok bool) {
	if t, isTap := below.(*readAheadConn); isTap {
		below = t.Conn
	}
	tcp, ok = below.(*net.TCPConn)
	return tcp, ok
}
