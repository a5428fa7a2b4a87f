package cli

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"

	"holdfast/internal/config"
	"holdfast/internal/nodeurl"
)

// kernelListener is a listener of the system's, TCP or Unix.
type kernelListener interface {
	net.Listener
	syscall.Conn
}

// drainingListener is a listener that closes without cutting off waiting connections. A
// connection that the kernel has made and that is not accepted yet is reset with its
// listener, and its caller cannot know whether the call was run. So on Linux shut accepts
// those before it closes; what is left is the microsecond between two system calls. On
// other systems such a call fails, and its caller asks again.
type drainingListener struct {
	kernelListener
	path string // of a Unix socket, which goes with the listener

	mu     sync.Mutex
	last   []net.Conn // taken in by shut, for Accept
	isShut bool
}

// listenDraining listens on an address.
func listenDraining(addr config.Address) (*drainingListener, error) {
	if path, ok := addr.Socket(); ok {
		l, err := listenUnix(path)
		if err != nil {
			return nil, err
		}
		return &drainingListener{kernelListener: l, path: path}, nil
	}
	l, err := net.Listen("tcp", string(addr))
	if err != nil {
		return nil, err
	}
	return &drainingListener{kernelListener: l.(*net.TCPListener)}, nil
}

// url is where clients of this machine reach the listener.
func (d *drainingListener) url() string {
	if d.path != "" {
		return nodeurl.Node{Socket: d.path}.String()
	}
	return reachableURL(d.Addr())
}

// Accept implements net.Listener. After shut it returns who was still let in.
func (d *drainingListener) Accept() (net.Conn, error) {
	c, err := d.kernelListener.Accept()
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
	return errors.Join(err, d.end())
}

// Close implements net.Listener. A door that is shut is closed: a server that ends
// closes its listeners once more, and takes an error of that for one of its own.
func (d *drainingListener) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isShut {
		return nil
	}
	return d.end()
}

func (d *drainingListener) end() error {
	err := d.kernelListener.Close()
	if d.path != "" && !errors.Is(err, net.ErrClosed) {
		err = errors.Join(err, os.Remove(d.path))
	}
	return err
}
