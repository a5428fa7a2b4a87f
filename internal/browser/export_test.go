package browser

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// LetThrough has every browser of the tests get a variable besides the usual ones.
func LetThrough(name string) { letThrough = append(letThrough, name) }

// IsLetThrough says whether a browser may have a variable: of the node's, of its
// profile's, or of the script that Debian starts it by.
func IsLetThrough(name string) bool {
	return isAmong(letThrough, name) || isAmong([]string{
		"BREAKPAD_DUMP_LOCATION", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_", "CHROME_*", "CHROMIUM_FLAGS", "GDK_*", "GNOME_*",
		"GOOGLE_API_KEY", "GOOGLE_DEFAULT_CLIENT_ID", "GOOGLE_DEFAULT_CLIENT_SECRET", // Debian's own
	}, name)
}

// HasArgument is hasArgument, for its fuzz test.
// Arguments is the command line of a browser.
var Arguments = arguments

func HasArgument(cmdline []byte, flag string) bool { return hasArgument(cmdline, flag) }

// ParseArguments is parseArguments, for its fuzz test.
func ParseArguments(raw []byte) (program string, arguments []byte, err error) {
	return parseArguments(raw)
}

// ParseLease is what Reap makes of the bytes of a lease file.
func ParseLease(dir, nonce string, raw []byte) error {
	_, err := store{dir: dir}.parse(nonce, raw)
	return err
}

// StartOf is the start time of a running process; ok is false for one that
// is gone or ended.
func StartOf(pid int) (start uint64, ok bool) {
	s, err := readStat(pid)
	return s.Start, err == nil && !s.hasEnded()
}

// Carrying counts the running processes whose command line holds text.
func Carrying(text string) (n int, err error) {
	pids, err := PIDsCarrying(text)
	return len(pids), err
}

// PIDsCarrying are those processes.
func PIDsCarrying(text string) (pids []int, err error) {
	err = scan(func(s procStat) {
		raw, err := commandLine(s.PID)
		if err == nil && s.PID != os.Getpid() && containsText(raw, text) {
			pids = append(pids, s.PID)
		}
	})
	return pids, err
}

func containsText(raw []byte, text string) bool {
	for i := 0; i+len(text) <= len(raw); i++ {
		if string(raw[i:i+len(text)]) == text {
			return true
		}
	}
	return false
}

// Forged are the parts of a lease a test may lie about.
type Forged struct {
	OtherBoot, OtherNamespace bool
	OwnerPID                  int
	OwnerStart                uint64
	BrowserPID                int
	Node                      string // "": of a node without a lock
	Program                   string
	BrowserStart              uint64
}

// Forge writes a lease with a profile as a node of another life may have left
// it, and returns both paths.
func Forge(t testing.TB, dir string, f Forged) (leasePath, profile string) {
	t.Helper()
	s, _, err := openStore(dir)
	b, bootErr := boot()
	if err := errors.Join(err, bootErr); err != nil {
		t.Fatal(err)
	}
	l := lease{Version: leaseVersion, Nonce: newNonce(), Boot: b}
	if f.OtherBoot {
		l.Boot.ID = "another"
	}
	if f.OtherNamespace {
		l.Boot.PIDNamespace = "pid:[1]"
	}
	l.Profile = s.profile(l.Nonce)
	l.Owner = identity{PID: f.OwnerPID, Start: f.OwnerStart}
	l.Browser = identity{PID: f.BrowserPID, Start: f.BrowserStart}
	l.Group = f.BrowserPID
	l.Node, l.Program = f.Node, f.Program
	raw, err := json.Marshal(l)
	if err == nil {
		err = errors.Join(os.WriteFile(s.lease(l.Nonce), raw, 0o600), os.MkdirAll(filepath.Join(l.Profile, "Default"), 0o700))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.lease(l.Nonce), l.Profile
}
