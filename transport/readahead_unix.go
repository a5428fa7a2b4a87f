//go:build unix

package transport

import (
	"errors"
	"net"
	"syscall"
)

// readAhead has a flood read from the socket itself, in large pieces.
func (t *readAheadConn) readAhead(tcp *net.TCPConn) {
	raw, err := tcp.SyscallConn()
	if err != nil {
		return // it is read as any other connection
	}
	t.raw = raw
	t.try = t.tryRead // made once: it would escape with every read
}

// tryRead is called by the poller whenever there may be something to read.
func (t *readAheadConn) tryRead(fd uintptr) (done bool) {
	into := t.asked
	if t.isFlooded && len(into) < midBuffer {
		t.ahead = getBuffer(midBuffer)
		into = t.ahead.b
	}
	for {
		t.n, t.failed = syscall.Read(int(fd), into)
		if !errors.Is(t.failed, syscall.EINTR) {
			break
		}
	}
	if t.failed == nil && t.n > 0 {
		t.isFlooded = t.n == len(into) || t.ahead != nil && t.n > len(t.asked)
		return true
	}
	t.isFlooded = false
	t.drop()
	return !errors.Is(t.failed, syscall.EAGAIN)
}
