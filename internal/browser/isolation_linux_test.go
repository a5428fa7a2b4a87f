package browser_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	llsyscall "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"holdfast/internal/browser"
	"holdfast/messages"
)

// TestABrowserThatCannotBeIsolated: by default that is a warning, and it is refused where
// isolation is required. A link to itself leads nowhere, so it can be hidden by no way.
func TestABrowserThatCannotBeIsolated(t *testing.T) {
	t.Parallel()
	for _, isolation := range []browser.Isolation{"", browser.IsolationAuto, browser.IsolationRequire, browser.IsolationOff} {
		t.Run("isolation "+string(isolation), func(t *testing.T) {
			t.Parallel()
			dir, loop := t.TempDir(), filepath.Join(t.TempDir(), "loop")
			if err := os.Symlink(loop, loop); err != nil {
				t.Fatal(err)
			}
			m, err := browser.NewManager(browser.Options{Path: os.Args[0], StateDir: dir, Isolation: isolation, Hide: []string{loop}})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				p, err := m.Launch(t.Context(), browser.LaunchOptions{IsHeadless: true})
				if isolation == browser.IsolationRequire {
					if messages.CodeOf(err) != messages.CodeUpstreamUnavailable || !strings.Contains(err.Error(), "could not be kept away") {
						t.Errorf("error %v", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				how, lacks := p.Seclusion()
				if off := isolation == browser.IsolationOff; how != browser.SecludedNone || strings.Contains(lacks, "is off") != off || lacks == "" {
					t.Errorf("isolated by %s: %s", how, lacks)
				}
			}
			if err := m.Close(t.Context()); err != nil {
				t.Error(err)
			}
			wantNothingLeft(t, dir)
		})
	}
	if _, err := browser.NewManager(browser.Options{StateDir: t.TempDir(), Isolation: "maybe"}); err == nil {
		t.Error("a setting that is none was taken")
	}
}

// TestChromiumOfARootNodeHasAUserOfItsOwn: none of its processes is root's, and no two
// browsers have the same user.
func TestChromiumOfARootNodeHasAUserOfItsOwn(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // what other nodes do is TestChromiumOfANodeWithoutPrivileges
	}
	dir := t.TempDir()
	m, err := browser.NewManager(browser.Options{StateDir: dir, Isolation: browser.IsolationRequire})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	users := map[uint32]bool{}
	for range 2 {
		p := launch(t, m)
		if how, lacks := p.Seclusion(); how != browser.SecludedUser {
			t.Fatalf("isolated by %s: %s", how, lacks)
		}
		pids, err := browser.PIDsCarrying(p.Profile())
		if err != nil || len(pids) < 2 {
			t.Fatalf("processes %v, %v", pids, err)
		}
		var of uint32
		for _, pid := range pids {
			info, err := os.Stat(filepath.Join("/proc", itoa(pid)))
			if err != nil {
				continue // it has ended
			}
			if of = info.Sys().(*syscall.Stat_t).Uid; of < 1000 {
				t.Errorf("process %d belongs to user %d", pid, of)
			}
		}
		if users[of] {
			t.Errorf("two browsers have user %d", of)
		}
		users[of] = true
	}
}

// TestChromiumOfANodeWithoutPrivileges: where the system lets every user make a user
// namespace, the browser has one, without the state directory; else it has rules.
func TestChromiumOfANodeWithoutPrivileges(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return // the other tests are run without privileges, then
	}
	chromium, err := browser.Find("")
	if err != nil {
		t.Fatal(err)
	}
	const stranger = 65533
	credential := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger}}
	allowed := exec.Command("unshare", "--user", "--mount", "true")
	allowed.SysProcAttr = credential
	want := browser.SecludedNamespace
	if allowed.Run() != nil {
		want = browser.SecludedRules
		if _, err := llsyscall.LandlockGetABIVersion(); err != nil {
			want = browser.SecludedNone
		}
	}
	dir, err := os.MkdirTemp("/tmp", "hf-stranger-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chown(dir, stranger, stranger); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "--node="+dir, "--browsers=1", "--binary="+chromium)
	cmd.SysProcAttr = credential
	cmd.Dir = "/"
	runNode(t, cmd, "isolated by "+string(want))
	// What its pages see of the state directory is their own profile alone.
	for _, pid := range browsersOf(t, dir) {
		entries, err := os.ReadDir(filepath.Join("/proc", itoa(pid), "root", dir))
		if err == nil && want == browser.SecludedNamespace && (len(entries) != 1 || entries[0].Name() != "profiles") {
			t.Errorf("process %d sees %v", pid, entries)
		}
	}
	kill9(cmd)
	for n := 1; n > 0; { // its pipe has ended, and so does the browser
		n, _ = browser.Carrying(dir)
	}
}

func browsersOf(t *testing.T, dir string) []int {
	t.Helper()
	pids, err := browser.PIDsCarrying(dir + "/profiles")
	if err != nil || len(pids) == 0 {
		t.Fatalf("processes %v, %v", pids, err)
	}
	return pids
}
