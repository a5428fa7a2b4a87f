package gateway

import (
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTheKernelWatchesAClient: without a ping a half-open connection ends within ten seconds,
// idle or not.
func TestTheKernelWatchesAClient(t *testing.T) {
	t.Parallel()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	far, err := net.Dial("tcp", lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	conn, err := lis.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	watch(conn)
	raw, err := tcpOf(conn).SyscallConn()
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
