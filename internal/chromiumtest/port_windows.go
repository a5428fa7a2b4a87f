package chromiumtest

import (
	"net"

	"golang.org/x/sys/windows"
)

// keptPort is a socket that is bound to a proxy's port and does not listen. While
// the proxy refuses, dials are refused, and still no other process is given the port.
type keptPort struct{ socket windows.Handle }

func keepPort(a net.Addr) (*keptPort, error) {
	tcp := a.(*net.TCPAddr)
	socket, err := windows.Socket(windows.AF_INET, windows.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	if err = sharePort(uintptr(socket)); err == nil {
		err = windows.Bind(socket, &windows.SockaddrInet4{Port: tcp.Port, Addr: [4]byte(tcp.IP.To4())})
	}
	if err != nil {
		_ = windows.Closesocket(socket)
		return nil, err
	}
	return &keptPort{socket}, nil
}

func (k *keptPort) release() { _ = windows.Closesocket(k.socket) }

// sharePort lets several sockets of this user have one port.
func sharePort(fd uintptr) error {
	return windows.SetsockoptInt(windows.Handle(fd), windows.SOL_SOCKET, windows.SO_REUSEADDR, 1)
}
