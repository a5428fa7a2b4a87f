package gateway

import (
	"net"

	"golang.org/x/sys/unix"
)

// hasNothingUnsent says whether the peer has acknowledged all that was written to it. A small write
// to it does not wait then.
func hasNothingUnsent(tcp *net.TCPConn) bool {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return false
	}
	unsent := -1
	_ = raw.Control(func(fd uintptr) {
		if n, err := unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err == nil {
			unsent = n
		}
	})
	return unsent == 0
}
