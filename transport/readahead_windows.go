package transport

import "net"

// readAhead does nothing: Windows has no read of a socket that does not wait.
func (t *readAheadConn) readAhead(*net.TCPConn) {}
