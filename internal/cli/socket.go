package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// listenUnix listens on a Unix socket that the node's user alone may use. The socket is made in
// a directory of mode 0700 and moved to its place with its mode, so it is never open to other
// users. A socket that a dead node has left is replaced.
func listenUnix(path string) (*net.UnixListener, error) {
	if err := isReplaceable(path); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".h")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // by its first name
	if err := errors.Join(os.Chmod(made, 0o600), os.Rename(made, path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// isReplaceable refuses a path at which a process listens, or that is no socket.
func isReplaceable(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is not a socket: it is left as it is", path)
	}
	c, err := net.Dial("unix", path)
	if err == nil {
		_ = c.Close()
		return errnoAddressInUse
	}
	return nil
}
