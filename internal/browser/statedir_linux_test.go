package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"holdfast/internal/browser"
)

func TestStateDirThatOthersMayWriteIsRefused(t *testing.T) {
	t.Parallel()
	for _, mode := range []os.FileMode{0o777, 0o770, 0o702} {
		dir := t.TempDir()
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := browser.NewManager(browser.Options{StateDir: dir}); err == nil || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := browser.NewManager(browser.Options{StateDir: dir}); err != nil {
		t.Errorf("mode 0755: %v", err)
	}
	if os.Geteuid() != 0 {
		return // another user's directory takes root to make
	}
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := browser.NewManager(browser.Options{StateDir: dir}); err == nil || !strings.Contains(err.Error(), "65534") {
		t.Errorf("another user's: %v", err)
	}
}

func TestALeaseThatIsNoFileHoldsNothingUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m, err := browser.NewManager(browser.Options{StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	lease := func(nonce string) string { return filepath.Join(dir, "leases", nonce+".json") }
	if err := syscall.Mkfifo(lease("00000000000000b0"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", lease("00000000000000b1")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(lease("00000000000000b2"), 0o700); err != nil {
		t.Fatal(err)
	}
	if n, err := m.Reap(t.Context()); n != 0 || err != nil {
		t.Errorf("reaped %d: %v", n, err)
	}
}
