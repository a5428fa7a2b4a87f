package gateway

import (
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestTheKernelWatchesAClient: without a ping a half-open connection ends within ten seconds,
// idle or not.
func TestTheKernelWatchesAClient(t *testing.T) {
	t.Parallel()
	tcp, _ := connected(t)
	watch(tcp)
	raw, err := tcp.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	of := map[int]int{}
	if err := raw.Control(func(fd uintptr) {
		for _, option := range []int{unix.TCP_KEEPIDLE, unix.TCP_KEEPINTVL, unix.TCP_KEEPCNT, unix.TCP_USER_TIMEOUT} {
			of[option], _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if idle := of[unix.TCP_KEEPIDLE] + of[unix.TCP_KEEPINTVL]*of[unix.TCP_KEEPCNT]; idle == 0 || idle > 10 {
		t.Errorf("an idle one ends after %d s: %v", idle, of)
	}
	if ms := of[unix.TCP_USER_TIMEOUT]; ms != 10_000 {
		t.Errorf("what is written may wait for %d ms", ms)
	}
}

// connected returns both ends of a connection.
func connected(t *testing.T) (near *net.TCPConn, far net.Conn) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lis.Close() })
	far, err = net.Dial("tcp", lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = far.Close() })
	conn, err := lis.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return tcpOf(conn), far
}

// TestWhatAClientIsYetToTakeIsSeen: more than its kernel has room for.
func TestWhatAClientIsYetToTakeIsSeen(t *testing.T) {
	t.Parallel()
	near, far := connected(t)
	if !hasNothingUnsent(near) {
		t.Error("something is unsent of a new connection")
	}
	_ = near.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	for err := error(nil); err == nil; {
		_, err = near.Write(make([]byte, 1<<20)) // until there is no room
	}
	if hasNothingUnsent(near) {
		t.Error("nothing is unsent where a write waits")
	}
	go func() { _, _ = io.Copy(io.Discard, far) }()
	for end := time.Now().Add(time.Minute); !hasNothingUnsent(near); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("what was written stays unsent")
		}
	}
}
