package chromiumtest

import (
	"context"
	"net"
	"syscall"
)

// listen shares the port with its [keptPort].
func listen(address string) (net.Listener, error) {
	c := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var set error
		err := raw.Control(func(fd uintptr) { set = sharePort(fd) })
		if err != nil {
			return err
		}
		return set
	}}
	return c.Listen(context.Background(), "tcp4", address)
}
