package gateway

import (
	"net"
	"time"

	"golang.org/x/sys/unix"
)

// limitUnacked bounds how long what is written may wait for the peer to take it.
func limitUnacked(tcp *net.TCPConn, d time.Duration) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(d.Milliseconds()))
	})
}
