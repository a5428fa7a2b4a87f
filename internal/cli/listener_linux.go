package cli

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// lastGuests bounds those that shut takes in: the longest queue there is by
// default.
const lastGuests = 4096

// takeWaiting accepts the connections that the kernel has made already, and ends the
// listener's accepting.
func (d *drainingListener) takeWaiting() error {
	raw, err := d.SyscallConn()
	if err != nil {
		return err
	}
	var taken []int
	err = raw.Control(func(fd uintptr) {
		for len(taken) < lastGuests {
			c, _, err := unix.Accept4(int(fd), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNABORTED) {
				continue
			}
			if err != nil {
				break
			}
			taken = append(taken, c)
		}
		_ = unix.Shutdown(int(fd), unix.SHUT_RD) // at once; Close would have to wait for Accept
	})
	for _, fd := range taken {
		f := os.NewFile(uintptr(fd), "")
		if c, err := net.FileConn(f); err == nil {
			d.last = append(d.last, c)
		}
		_ = f.Close() // c is a copy
	}
	return err
}
