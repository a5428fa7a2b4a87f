package chromiumtest

import (
	"context"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// keptPort is a socket that is bound to a proxy's port and does not listen. While
// the proxy refuses, dials are refused, and still nobody else is given the port:
// test binaries that run side by side look for free ports all the time.
type keptPort struct{ fd int }

func keepPort(a net.Addr) (*keptPort, error) {
	tcp := a.(*net.TCPAddr)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: tcp.Port, Addr: [4]byte(tcp.IP.To4())})
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return &keptPort{fd}, nil
}

func (k *keptPort) release() { _ = unix.Close(k.fd) }

// listen shares the port with its [keptPort].
func listen(address string) (net.Listener, error) {
	c := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var set error
		err := raw.Control(func(fd uintptr) {
			set = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
		})
		if err != nil {
			return err
		}
		return set
	}}
	return c.Listen(context.Background(), "tcp4", address)
}
