//go:build unix

package chromiumtest

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// keptPort is a socket that is bound to a proxy's port and does not listen. While
// the proxy refuses, dials are refused, and still no other process is given the port:
// test binaries that run side by side look for free ports all the time.
type keptPort struct{ fd int }

func keepPort(a net.Addr) (*keptPort, error) {
	tcp := a.(*net.TCPAddr)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(fd)
	if err = sharePort(uintptr(fd)); err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: tcp.Port, Addr: [4]byte(tcp.IP.To4())})
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return &keptPort{fd}, nil
}

func (k *keptPort) release() { _ = unix.Close(k.fd) }

// sharePort lets several sockets of this user have one port.
func sharePort(fd uintptr) error {
	return unix.SetsockoptInt(int(fd), syscall.SOL_SOCKET, unix.SO_REUSEPORT, 1)
}
