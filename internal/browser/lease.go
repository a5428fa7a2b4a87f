package browser

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// lease says on disk who owns a browser. It is written twice: before the
// browser is executed, and once its pid is known. A node that dies in between
// leaves a lease without Browser; the nonce in the command line finds the
// process all the same.
type lease struct {
	Version int          `json:"version"`
	Nonce   string       `json:"nonce"`
	Boot    bootIdentity `json:"boot"`
	Owner   identity     `json:"owner"`
	Node    string       `json:"node,omitempty"` // whose lock is held while it lives; see nodeLock
	Profile string       `json:"profile"`        // for people; the code derives it from Nonce
	Browser identity     `json:"browser"`        // PID 0: not recorded
	Group   int          `json:"process_group"`
	Program string       `json:"program,omitempty"` // what the browser runs, once it is ready

	written time.Time // when the file was
}

const (
	leaseVersion = 1
	// maxLease bounds what is read of a lease, in bytes.
	maxLease = 64 << 10

	leasesDir   = "leases"
	profilesDir = "profiles"
	tmpDir      = "tmp"       // within a profile
	crashDir    = "crash"     // within a profile
	downloadDir = "downloads" // within a profile
	homeDir     = "home"      // within a profile: HOME of a browser with a user of its own
)

// store is the directory of leases and profiles.
type store struct{ dir string }

// isWithin says whether a path is the directory or below it.
func (s store) isWithin(path string) bool {
	below, err := filepath.Rel(s.dir, path)
	return err == nil && path != "" && (below == "." || filepath.IsLocal(below))
}

// openStore creates the directories, for the owner alone, and says what is not safe
// about them.
func openStore(dir string) (_ store, warning string, err error) {
	if dir == "" {
		return store{}, "", errors.New("browser: a state directory is required")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return store{}, "", fmt.Errorf("browser: state directory: %w", err)
	}
	warning, err = prepareStateDir(abs)
	if err != nil {
		return store{}, "", fmt.Errorf("browser: %w", err)
	}
	// Where the browser's own view of it is made, there is no link to be followed.
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return store{}, "", fmt.Errorf("browser: state directory: %w", err)
	}
	return store{dir: abs}, warning, nil
}

func (s store) profile(nonce string) string { return filepath.Join(s.dir, profilesDir, nonce) }
func (s store) lease(nonce string) string   { return filepath.Join(s.dir, leasesDir, nonce+".json") }

// flag is the argument that proves a process to be the browser of nonce.
func (s store) flag(nonce string) string { return userDataDirFlag + s.profile(nonce) }

// crashFlag is the same for Chromium's crash handlers, which leave the
// process group and carry no --user-data-dir.
func (s store) crashFlag(nonce string) string {
	return "--database=" + filepath.Join(s.profile(nonce), crashDir)
}

// isOwner is the proof that pid belongs to the browser of nonce.
func (s store) isOwner(nonce string, pid int) bool {
	return hasFlag(pid, s.flag(nonce)) || hasFlag(pid, s.crashFlag(nonce))
}

// write replaces the lease in one step; a reader sees the old or the new one.
func (s store) write(l lease) error {
	raw, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return fmt.Errorf("write lease: %w", err)
	}
	path := s.lease(l.Nonce)
	tmp := path + ".tmp"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write lease: %w", err)
	}
	_, err = f.Write(append(raw, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return fmt.Errorf("write lease: %w", errors.Join(err, os.Remove(tmp)))
	}
	return nil
}

// read returns the lease of nonce, checked.
func (s store) read(nonce string) (lease, error) {
	// A pipe without a writer, or a device, must not hold up the start.
	f, err := os.OpenFile(s.lease(nonce), os.O_RDONLY|openOnlyFile, 0)
	if err != nil {
		return lease{}, fmt.Errorf("read lease: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return lease{}, fmt.Errorf("read lease: %w", err)
	}
	if !info.Mode().IsRegular() {
		return lease{}, errors.New("read lease: it is not a regular file")
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxLease+1))
	if err != nil {
		return lease{}, fmt.Errorf("read lease: %w", err)
	}
	l, err := s.parse(nonce, raw)
	l.written = info.ModTime()
	return l, err
}

// parse reads a lease that another process wrote, perhaps not whole.
func (s store) parse(nonce string, raw []byte) (lease, error) {
	if len(raw) > maxLease {
		return lease{}, errors.New("read lease: too large")
	}
	var l lease
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&l); err != nil {
		return lease{}, errors.New("read lease: not whole")
	}
	switch {
	case l.Version != leaseVersion:
		return lease{}, fmt.Errorf("read lease: version %d is not known here", l.Version)
	case !noncePattern.MatchString(l.Nonce) || l.Nonce != nonce:
		return lease{}, errors.New("read lease: it is not the one its name says")
	case l.Profile != s.profile(nonce):
		return lease{}, errors.New("read lease: its profile is not in this state directory")
	case l.Node != "" && !noncePattern.MatchString(l.Node):
		return lease{}, errors.New("read lease: it names no node")
	case l.Boot.ID == "" || l.Owner.PID <= 0 || l.Browser.PID < 0 || l.Browser.PID == 1:
		return lease{}, errors.New("read lease: it names no owner")
	}
	return l, nil
}

// forget removes the profile, then the lease.
func (s store) forget(nonce string) error {
	if err := removeProfile(s.profile(nonce)); err != nil {
		return fmt.Errorf("remove profile: %w", err)
	}
	if err := os.Remove(s.lease(nonce)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove lease: %w", err)
	}
	return nil
}

var noncePattern = regexp.MustCompile(`^[0-9a-f]{16}$`)

// newNonce is long enough that no other path of this machine holds it by
// chance, and short because socket paths are (see maxSocketPath).
func newNonce() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
