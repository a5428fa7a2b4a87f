package transport

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket tells whether a write would have to wait. The zero value always says
// that it might.
type socket struct {
	raw  syscall.RawConn
	look func(fd uintptr) // made once: it would escape with every call
	fds  *[1]unix.PollFd
}

// hasUnread says whether the socket holds bytes, or an end, that nothing has read yet.
func (s socket) hasUnread() bool {
	var fds [1]unix.PollFd
	return s.raw != nil && s.raw.Control(func(fd uintptr) {
		fds[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		_, _ = unix.Poll(fds[:], 0)
	}) == nil && fds[0].Revents&unix.POLLIN != 0
}

// socketOf returns the socket below a connection.
func socketOf(below net.Conn) socket {
	tcp, ok := tcpOf(below)
	if !ok {
		return socket{}
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return socket{}
	}
	fds := new([1]unix.PollFd)
	return socket{raw: raw, fds: fds, look: func(fd uintptr) {
		fds[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLOUT}
		_, _ = unix.Poll(fds[:], 0)
	}}
}

// canWrite implements taker: whether the socket takes [maxDirect] bytes at once. One
// goroutine at a time may ask.
func (s socket) canWrite() bool {
	return s.raw != nil && s.raw.Control(s.look) == nil && s.fds[0].Revents&unix.POLLOUT != 0
}

// dropUnsent has the socket's end drop what the peer has not taken, in place of
// delivering it later: a link that is lost says nothing any more.
func (s socket) dropUnsent() {
	if s.raw != nil {
		// A socket that is closed already has nothing to drop.
		_ = s.raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
		})
	}
}

// pipeRoom returns what tells whether a pipe takes [maxDirect] bytes at once. One
// goroutine at a time may ask.
func pipeRoom(to PipeEnd) func() bool {
	f, ok := to.(*os.File)
	if !ok {
		return func() bool { return false }
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return func() bool { return false }
	}
	var fds [1]unix.PollFd
	poll := func(fd uintptr) {
		fds[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLOUT}
		_, _ = unix.Poll(fds[:], 0)
	}
	// Linux says so while the pipe has room for PIPE_BUF bytes, 4 KiB.
	return func() bool { return raw.Control(poll) == nil && fds[0].Revents&unix.POLLOUT != 0 }
}
