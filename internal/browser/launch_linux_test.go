package browser_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"holdfast/internal/browser"
	"holdfast/messages"
)

func TestRealChromiumComesAndGoes(t *testing.T) {
	t.Parallel()
	for _, transport := range []browser.Transport{"", browser.TransportPipe, browser.TransportPort} {
		t.Run("transport "+string(transport), func(t *testing.T) {
			t.Parallel()
			comesAndGoes(t, transport)
		})
	}
}

func comesAndGoes(t *testing.T, transport browser.Transport) {
	dir := t.TempDir()
	m, err := browser.NewManager(browser.Options{StateDir: dir, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	p := launch(t, m)
	if transport == browser.TransportPort {
		if got := p.Endpoint().Reveal(); !strings.HasPrefix(got, "ws://127.0.0.1:") {
			t.Errorf("endpoint is not on the loopback interface: %s", p.Endpoint())
		}
		if _, _, ok := p.Pipe(); ok || len(listeners(t, dir)) != 1 {
			t.Errorf("a browser with a port listens on %v, with a pipe: %v", listeners(t, dir), ok)
		}
	} else {
		if _, _, ok := p.Pipe(); !ok || !p.Endpoint().IsZero() {
			t.Errorf("pipe %v, endpoint %v", ok, p.Endpoint())
		}
		if l := listeners(t, dir); len(l) > 0 {
			t.Errorf("a browser with a pipe listens on %v", l)
		}
		if _, err := os.Stat(filepath.Join(p.Profile(), "DevToolsActivePort")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the profile names a port: %v", err)
		}
	}
	raw, err := os.ReadFile(filepath.Join("/proc", itoa(p.PID()), "environ"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range strings.Split(strings.TrimSuffix(string(raw), "\x00"), "\x00") {
		if name, _, _ := strings.Cut(kv, "="); !browser.IsLetThrough(name) {
			t.Errorf("Chromium has the variable %s", name)
		}
	}
	if group, err := syscall.Getpgid(p.PID()); err != nil || group != p.PID() {
		t.Errorf("process group %d (%v), want its own", group, err)
	}
	info, err := os.Stat(p.Profile())
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("profile: %v %v", info, err)
	}
	if p.ExitReason() != "" {
		t.Errorf("exit reason of a running browser: %q", p.ExitReason())
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, "the exit", p.Exited())
	wantNothingLeft(t, dir)
	if _, err := m.Launch(t.Context(), browser.LaunchOptions{IsHeadless: true}); messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
		t.Errorf("launch after Close: %v", err)
	}
}

// listeners are the local addresses, as the kernel writes them, on which processes of
// the browsers in dir listen.
func listeners(t *testing.T, dir string) (list []string) {
	t.Helper()
	inodes := map[string]bool{}
	pids, err := browser.PIDsCarrying(filepath.Join(dir, "profiles"))
	if err != nil || len(pids) == 0 {
		t.Fatalf("processes %v: %v", pids, err)
	}
	for _, pid := range pids {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, fd := range fds {
			if link, err := os.Readlink(fd); err == nil {
				inodes[strings.TrimSuffix(strings.TrimPrefix(link, "socket:["), "]")] = true
			}
		}
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		raw, err := os.ReadFile(table)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			const listening = "0A"
			if f := strings.Fields(line); len(f) > 9 && f[3] == listening && inodes[f[9]] {
				list = append(list, f[1])
			}
		}
	}
	return list
}

func TestCrashIsNoticedAndCleanedUp(t *testing.T) {
	t.Parallel()
	m, dir := fake(t, "group")
	p := launch(t, m)
	if err := syscall.Kill(p.PID(), syscall.SIGSEGV); err != nil {
		t.Fatal(err)
	}
	await(t, "the exit", p.Exited())
	if !strings.Contains(p.ExitReason(), "segmentation fault") && !strings.Contains(p.ExitReason(), "exit status 2") {
		t.Errorf("exit reason %q", p.ExitReason())
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantNothingLeft(t, dir)
}

func TestChildrenSeeNoSecrets(t *testing.T) {
	for _, name := range []string{
		"HOLDFAST_TOKEN", "AWS_SECRET_ACCESS_KEY", "OTEL_EXPORTER_OTLP_HEADERS", "HTTPS_PROXY", "GITHUB_TOKEN", "NOTIFY_SOCKET", "PATHS",
	} {
		t.Setenv(name, "planted-in-the-environment")
	}
	t.Setenv("LC_ALL", "C.UTF-8")
	m, _ := fake(t, "obedient")
	p := launch(t, m)
	for _, file := range []string{"environ", "cmdline"} {
		raw, err := os.ReadFile(filepath.Join("/proc", itoa(p.PID()), file))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), "planted") || strings.Contains(string(raw), "HOLDFAST_") {
			t.Errorf("the child's %s holds a secret", file)
		}
		if file == "environ" && (!strings.Contains(string(raw), "LC_ALL=C.UTF-8") || !strings.Contains(string(raw), "PATH=")) {
			t.Errorf("the child lacks what it needs: %q", raw)
		}
	}
}

func TestStateDirIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	m, err := browser.NewManager(browser.Options{Path: os.Args[0], StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	p := launch(t, m)
	leases, err := filepath.Glob(filepath.Join(dir, "leases", "*.json"))
	if err != nil || len(leases) != 1 {
		t.Fatalf("leases %v (%v), want one", leases, err)
	}
	for path, want := range map[string]fs.FileMode{
		dir: 0o700, filepath.Join(dir, "leases"): 0o700, filepath.Join(dir, "profiles"): 0o700, p.Profile(): 0o700, leases[0]: 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	if err := errors.Join(os.Mkdir(linked, 0o700), os.Symlink(dir, filepath.Join(linked, "profiles"))); err != nil {
		t.Fatal(err)
	}
	if _, err := browser.NewManager(browser.Options{StateDir: linked}); err == nil {
		t.Error("a symbolic link in place of the profiles was accepted")
	}
}
