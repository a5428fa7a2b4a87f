package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// told waits until the manager behind the socket is told something that begins
// so, and returns it.
func told(t *testing.T, socket *net.UnixConn, prefix string) string {
	t.Helper()
	if err := socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	for {
		n, err := socket.Read(b)
		if err != nil {
			t.Fatalf("the manager is never told %q: %v", prefix, err)
		}
		if strings.HasPrefix(string(b[:n]), prefix) {
			return string(b[:n])
		}
	}
}

// TestSystemd is the conversation with systemd, by a socket of either kind.
func TestSystemd(t *testing.T) {
	t.Parallel()
	for i, name := range []string{filepath.Join(t.TempDir(), "n"), "@holdfast-test-" + rand.Text()} {
		socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		s := &shell{T: t, state: t.TempDir(), env: []string{"NOTIFY_SOCKET=" + name, "WATCHDOG_USEC=200000"}}
		p := s.serve()
		if ready := told(t, socket, "READY=1"); ready != "READY=1\nSTATUS=serving "+p.url {
			t.Errorf("%q", ready)
		}
		told(t, socket, "WATCHDOG=1")
		told(t, socket, "WATCHDOG=1")
		if i == 0 {
			s.run(0, "task", "start", "one")
			if len(s.browserPIDs()) == 0 {
				t.Error("no browser runs")
			}
		}
		for _, pid := range s.browserPIDs() {
			env, err := os.ReadFile(filepath.Join("/proc", pid, "environ"))
			if err == nil && (bytes.Contains(env, []byte("NOTIFY_SOCKET=")) || bytes.Contains(env, []byte("WATCHDOG_USEC="))) {
				t.Error("a browser could speak to systemd in our name")
			}
		}
		p.signal(t, syscall.SIGHUP)
		told(t, socket, "RELOADING=1\nMONOTONIC_USEC=")
		told(t, socket, "READY=1")
		p.signal(t, syscall.SIGTERM)
		told(t, socket, "STOPPING=1\nSTATUS=draining\nEXTEND_TIMEOUT_USEC=25000000")
		p.wait(t)
		if code := p.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit %d: %s", code, p.log)
		}
		s.wantNothingLeft()
	}
	t.Run("a manager that is not there, or asks for nonsense, ends nothing", func(t *testing.T) {
		t.Parallel()
		s := &shell{T: t, state: t.TempDir(), env: []string{"NOTIFY_SOCKET=/does/not/exist", "WATCHDOG_USEC=soon"}}
		p := s.serve()
		p.log.await(t, "the service manager could not be told")
		p.signal(t, syscall.SIGTERM)
		p.wait(t)
		if code := p.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit %d: %s", code, p.log)
		}
	})
}

// TestManagerThatDoesNotListen: a full socket holds up neither calls nor the end.
func TestManagerThatDoesNotListen(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "n")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	s := &shell{T: t, state: t.TempDir(), env: []string{"NOTIFY_SOCKET=" + name, "WATCHDOG_USEC=20000"}}
	p := s.serve()
	p.log.await(t, "the service manager could not be told") // it is full
	s.run(0, "task", "ls")
	p.signal(t, syscall.SIGTERM)
	p.wait(t)
	if code := p.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit %d: %s", code, p.log)
	}
}

func TestWatchdogVariables(t *testing.T) {
	for _, c := range []struct {
		usec, pid string
		want      time.Duration
		ok        bool
	}{
		{"", "", 0, true},
		{"30000000", "", 30 * time.Second, true},
		{"30000000", "1", 0, true},
		{"1", "", 10 * time.Millisecond, true},
		{"0", "", 0, false},
		{"-1", "", 0, false},
		{"soon", "", 0, false},
		{"99999999999999999999", "", 0, false},
		{"9223372036854775807", "", 0, false},
		{"1000000", strconv.Itoa(os.Getpid()), time.Second, true},
	} {
		t.Setenv("WATCHDOG_USEC", c.usec)
		t.Setenv("WATCHDOG_PID", c.pid)
		if got, err := watchdog(); got != c.want || (err == nil) != c.ok {
			t.Errorf("%+v: %v %v", c, got, err)
		}
	}
	for _, name := range []string{"relative", "vsock:2:1", "/does/not/exist"} {
		t.Setenv("NOTIFY_SOCKET", name)
		if notify("READY=1") == nil {
			t.Error(name)
		}
	}
}

// TestWatchdogOfAFrozenNode: a process that does not run sends no sign of life; systemd's
// part is to restart it.
func TestWatchdogOfAFrozenNode(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "n")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	s := &shell{T: t, state: t.TempDir(), env: []string{"NOTIFY_SOCKET=" + name, "WATCHDOG_USEC=100000"}}
	p := s.serve()
	told(t, socket, "WATCHDOG=1")
	p.signal(t, syscall.SIGSTOP)
	var silent error
	for b := make([]byte, 64); silent == nil; {
		_ = socket.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
		_, silent = socket.Read(b)
	}
	if !errors.Is(silent, os.ErrDeadlineExceeded) {
		t.Error(silent)
	}
	p.signal(t, syscall.SIGCONT)
	told(t, socket, "WATCHDOG=1")
}
