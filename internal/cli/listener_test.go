package cli_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"holdfast/internal/cli"
	"holdfast/internal/config"
)

// TestListenerShut: connections that the kernel has made when a listener closes are
// accepted, and no others.
func TestListenerShut(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := cli.OpenDoor(config.Address(addr))
		if err != nil {
			t.Fatal(err)
		}
		const guests = 20
		var dialled []net.Conn
		for i := range guests {
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprintf(c, "%02d", i)
			dialled = append(dialled, c)
		}
		if err := l.Shut(); err != nil {
			t.Error(err)
		}
		if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
			c.Close()
			t.Error("the door is open")
		}
		for i := range guests {
			c, err := l.Accept()
			if err != nil {
				t.Fatalf("guest %d was cut off: %v", i, err)
			}
			said := make([]byte, 2)
			if _, err := io.ReadFull(c, said); err != nil || string(said) != fmt.Sprintf("%02d", i) {
				t.Errorf("guest %d: %q %v", i, said, err)
			}
			if _, err := c.Write(said); err != nil {
				t.Error(err)
			}
			c.Close()
			if back, err := io.ReadAll(dialled[i]); err != nil || string(back) != string(said) {
				t.Errorf("guest %d: %q %v", i, back, err)
			}
		}
		if c, err := l.Accept(); err == nil {
			c.Close()
			t.Error("one too many")
		}
	}
}

// TestDoorWithSomebodyWaiting: Accept, which waits for a guest, hears that the
// door was closed.
func TestDoorWithSomebodyWaiting(t *testing.T) {
	t.Parallel()
	l, err := cli.OpenDoor("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				ended <- err
				return
			}
			c.Close()
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String()) // Accept runs
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(c)
	c.Close()
	if err := l.Shut(); err != nil {
		t.Error(err)
	}
	await(t, "Accept ends", ended)
	if err := l.Shut(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

// TestADoorThatIsShutIsClosed: the server that ends after it finds nothing amiss.
func TestADoorThatIsShutIsClosed(t *testing.T) {
	t.Parallel()
	d, err := cli.OpenDoor("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := errors.Join(d.Shut(), d.Close()); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Accept(); err == nil {
		t.Error("it lets someone in")
	}
}
