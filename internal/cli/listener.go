package cli

import (
	"errors"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// drainingListener is a listener that closes without cutting off those who stand in it. A
// connection that the kernel has made and nobody has accepted yet is reset with
// its listener, and its caller cannot know whether the call was run. So shut
// takes them in with its last breath; what is left is the microsecond between
// two system calls.
type drainingListener struct {
	*net.TCPListener

	mu     sync.Mutex
	last   []net.Conn // taken in by shut, for Accept
	isShut bool
}

// lastGuests bounds those that shut takes in: the longest queue there is by
// default.
const lastGuests = 4096

// listenDraining listens on a TCP address.
func listenDraining(addr string) (*drainingListener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &drainingListener{TCPListener: l.(*net.TCPListener)}, nil
}

// Accept implements net.Listener. After shut it returns who was still let in.
func (d *drainingListener) Accept() (net.Conn, error) {
	c, err := d.TCPListener.Accept()
	if err == nil {
		return c, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.last) == 0 {
		return nil, err
	}
	c, d.last = d.last[0], d.last[1:]
	return c, nil
}

// shut lets nobody in any more, but those who have got through.
func (d *drainingListener) shut() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isShut {
		return nil
	}
	d.isShut = true
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
	return errors.Join(err, d.TCPListener.Close())
}

// Close implements net.Listener. A door that is shut is closed: a server that ends
// closes its listeners once more, and takes an error of that for one of its own.
func (d *drainingListener) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isShut {
		return nil
	}
	return d.TCPListener.Close()
}
