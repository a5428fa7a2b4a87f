package browser_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"holdfast/internal/browser"
)

func locks(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "leases", "*.lock"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestALockProvesTheDeathOfANode(t *testing.T) {
	t.Parallel()
	const node = "00000000000000ff"
	for name, c := range map[string]struct {
		lock string // free, held or none
		f    browser.Forged
		kept bool
	}{
		"another container's that died":                        {"free", browser.Forged{OtherNamespace: true, OwnerPID: os.Getpid(), OwnerStart: 1}, false},
		"that ended and left its lock nowhere":                 {"none", browser.Forged{OtherNamespace: true, OwnerPID: 1, OwnerStart: 1}, false},
		"another container's that lives":                       {"held", browser.Forged{OtherNamespace: true, OwnerPID: 4194000, OwnerStart: 1}, true},
		"of this namespace by its number, and not by its lock": {"held", browser.Forged{OwnerPID: 4194000, OwnerStart: 1}, true},
		"on another machine that shares the directory":         {"held", browser.Forged{OtherBoot: true, OwnerPID: 1, OwnerStart: 1}, true},
		"of an earlier boot":                                   {"free", browser.Forged{OtherBoot: true, OwnerPID: 1, OwnerStart: 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c.f.Node = node
			lease, profile := browser.Forge(t, dir, c.f)
			path := filepath.Join(dir, "leases", node+".lock")
			if c.lock != "none" {
				f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if c.lock == "held" {
					if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
						t.Fatal(err)
					}
				}
			}
			if n := reap(t, dir); n != 0 {
				t.Errorf("reaped %d browsers", n)
			}
			for _, p := range []string{lease, profile} {
				if _, err := os.Stat(p); errors.Is(err, fs.ErrNotExist) == c.kept {
					t.Errorf("%s: %v, want kept %v", p, err, c.kept)
				}
			}
			if _, err := os.Stat(path); c.lock == "free" && err == nil {
				t.Error("the lock of the dead is left")
			}
		})
	}
}

// TestALockIsHeldUntilAForkedProcessRunsItsProgram: such a process has every open file of a
// node that is killed meanwhile.
func TestALockIsHeldUntilAForkedProcessRunsItsProgram(t *testing.T) {
	t.Parallel()
	const node = "00000000000000fe"
	dir := t.TempDir()
	lease, profile := browser.Forge(t, dir, browser.Forged{Node: node, OwnerPID: 4194000, OwnerStart: 1})
	forked, err := os.OpenFile(filepath.Join(dir, "leases", node+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(forked.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	runs := time.AfterFunc(100*time.Millisecond, func() { _ = forked.Close() })
	defer runs.Stop()
	reap(t, dir)
	for _, p := range []string{lease, profile} {
		if _, err := os.Stat(p); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", p, err)
		}
	}
}

func TestANodeHoldsItsLockForLife(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m, err := browser.NewManager(browser.Options{Path: os.Args[0], StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	p := launch(t, m)
	if n := reap(t, dir); n != 0 || len(locks(t, dir)) < 1 {
		t.Errorf("reaped %d browsers of a node that lives; locks %v", n, locks(t, dir))
	}
	if p.ExitReason() != "" {
		t.Error("its browser was ended")
	}
	held := locks(t, dir)
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(locks(t, dir)) >= len(held) {
		t.Errorf("locks %v, before the end %v", locks(t, dir), held)
	}
}

// TestAKilledContainerLeavesNothing: its pid namespace is gone with it, and nothing in
// this one can be asked about its processes.
func TestAKilledContainerLeavesNothing(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // a pid namespace takes root to make
	}
	dir := t.TempDir()
	for range 3 {
		cmd := exec.Command("unshare", "--pid", "--fork", "--mount-proc", "--kill-child", os.Args[0], "--node="+dir, "--browsers=2", "--binary="+os.Args[0])
		runNode(t, cmd, "ready")
		kill9(cmd)
		for n := 1; n > 0; {
			n, _ = browser.Carrying(dir + "/profiles")
		}
	}
	m, err := browser.NewManager(browser.Options{StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Reap(context.Background()); err != nil {
		t.Error(err)
	}
	wantNothingLeft(t, dir)
	if len(locks(t, dir)) != 1 { // m's own
		t.Errorf("locks %v", locks(t, dir))
	}
}

// TestAnArgumentAloneProvesNothing: a process that only names the profile is left alone.
func TestAnArgumentAloneProvesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lease, profile := browser.Forge(t, dir, browser.Forged{OwnerPID: 4194000, OwnerStart: 1, Node: "00000000000000fe", Program: "/opt/chromium/chromium"})
	lookalike := exec.Command("sh", "-c", "echo ready; read line", "--user-data-dir="+profile)
	in, err := lookalike.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	runNode(t, lookalike, "ready")
	start, _ := browser.StartOf(lookalike.Process.Pid)
	if n := reap(t, dir); n != 0 {
		t.Errorf("reaped %d", n)
	}
	wantRunning(t, "the lookalike", lookalike.Process.Pid, start)
	if _, err := os.Stat(lease); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lease of the dead is left: %v", err)
	}
}
