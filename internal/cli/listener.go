package cli

import (
	"errors"
	"net"
	"sync"
)

// drainingListener is a listener that closes without cutting off waiting connections. A
// connection that the kernel has made and that is not accepted yet is reset with its
// listener, and its caller cannot know whether the call was run. So on Linux shut accepts
// those before it closes; what is left is the microsecond between two system calls. On
// other systems such a call fails, and its caller asks again.
type drainingListener struct {
	*net.TCPListener

	mu     sync.Mutex
	last   []net.Conn // taken in by shut, for Accept
	isShut bool
}

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

// shut accepts no connection any more, but those that the kernel has made already.
func (d *drainingListener) shut() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isShut {
		return nil
	}
	d.isShut = true
	err := d.takeWaiting()
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
