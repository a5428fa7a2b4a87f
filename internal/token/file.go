package token

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxFile is more than any token with its newline.
const maxFile = 1024

// LoadOrCreate reads the admin token from the file at path, and makes both
// where there is none. Two processes that create at the same time end up with
// the same token.
func LoadOrCreate(path string) (Admin, error) {
	a, err := loadOwn(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return a, err
	}
	if err := create(path, Generate()); err != nil && !errors.Is(err, fs.ErrExist) {
		return Admin{}, fmt.Errorf("create token file: %w", err)
	}
	// Read back in every case: the loser of a race takes the winner's.
	return loadOwn(path)
}

// loadOwn is Load for a node to serve with: the owner of the file is the node's admin,
// so it has to be the node's own user or root.
func loadOwn(path string) (Admin, error) {
	s, owner, err := read(path)
	if err != nil {
		return Admin{}, err
	}
	if self := os.Geteuid(); owner != self && owner != 0 {
		return Admin{}, fmt.Errorf("token file %s belongs to user %d, and the node runs as user %d: its owner would be the node's admin", path, owner, self)
	}
	return parse(path, s)
}

// Load reads the admin token from the file at path. It refuses a file that
// others than its owner can read or write, and one that is not a file.
func Load(path string) (Admin, error) {
	s, _, err := read(path)
	if err != nil {
		return Admin{}, err
	}
	return parse(path, s)
}

func parse(path, s string) (Admin, error) {
	a, err := ParseAdmin(s)
	if err != nil {
		return Admin{}, fmt.Errorf("token file %s: %w", path, err)
	}
	return a, nil
}

// LoadAny reads a token of any kind, for a client to send. The same files are
// refused.
func LoadAny(path string) (string, error) {
	s, _, err := read(path)
	if err != nil {
		return "", err
	}
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("token file %s holds no token", path)
	}
	return s, nil
}

func read(path string) (text string, owner int, err error) {
	// A pipe in its place must not hold up the start.
	f, err := os.OpenFile(path, os.O_RDONLY|openWithoutWait, 0)
	if err != nil {
		return "", 0, fmt.Errorf("read token file: %w", err)
	}
	defer f.Close()
	// Asked of the open file, not of the path: nothing can be swapped between.
	info, err := f.Stat()
	if err != nil {
		return "", 0, fmt.Errorf("read token file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", 0, fmt.Errorf("token file %s is not a regular file", path)
	}
	owner, isPrivate := access(info)
	if !isPrivate {
		return "", 0, fmt.Errorf("token file %s can be read or written by others (mode %04o): run chmod 600 on it", path, info.Mode().Perm())
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", 0, fmt.Errorf("read token file: %w", err)
	}
	if len(b) > maxFile {
		return "", 0, fmt.Errorf("token file %s is too large", path)
	}
	return string(b), owner, nil
}

// isPrivateMode says whether a file of that mode and owner is its owner's alone. One
// exception: root may lend it to one group, read-only, for a node that is not
// root. That is how secrets are mounted (Kubernetes with fsGroup, systemd's
// credentials, whose access list shows as the group's bits), and a node could
// not chmod it.
func isPrivateMode(mode fs.FileMode, owner, self int) bool {
	if owner == 0 && self != 0 {
		return mode&0o037 == 0
	}
	return mode&0o077 == 0
}

// create writes the token beside path and links it into place, so that no
// reader meets a half-written file and no writer replaces another's.
func create(path string, a Admin) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".token-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = f.WriteString(a.Reveal() + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}
