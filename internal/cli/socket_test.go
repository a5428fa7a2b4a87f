package cli_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/client"
)

// socketDir is a directory whose path leaves room for a socket's name.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hf")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestServeOnAUnixSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(socketDir(t), "h.sock")
	// What a dead node has left is replaced.
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()

	m := newMachine(t)
	s := m.serve("--listen", "unix:"+path)
	if s.url != "unix:"+path {
		t.Error(s.url)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Error(left)
	}
	m.want(0, "task", "ls")
	m.want(0, "task", "ls", "--node", s.url, "--token-file", s.tokenFile)
	m.want(0, "probe", "live")
	if _, errs := m.want(1, "serve", "--listen", "unix:"+path); !strings.Contains(errs, "a Holdfast node listens on unix:"+path+" already") {
		t.Error(errs)
	}
	if _, errs := m.want(1, "ui"); !strings.Contains(errs, "--listen HOST:PORT") {
		t.Error(errs)
	}
	node, err := client.New(s.url, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer node.Close()
	if err := node.Live(context.Background()); err != nil || node.Node() != s.url {
		t.Error(node.Node(), err)
	}
	if code := s.stop(); code != 0 {
		t.Error(code, s.log)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is left")
	}
}

func TestServeLeavesAFileThatIsNoSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(socketDir(t), "file")
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := newMachine(t)
	if _, errs := m.want(1, "serve", "--listen", "unix:"+path); !strings.Contains(errs, "is not a socket") {
		t.Error(errs)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "kept" {
		t.Error(string(b), err)
	}
}
