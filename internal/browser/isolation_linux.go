package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// plan decides how a browser at path is started with that profile. Failed are the reasons
// why the stronger ways did not work here, the strongest first.
func (m *Manager) plan(path, profile string, o LaunchOptions, failed []error) plan {
	p := m.seclude(path, profile, o, failed)
	if slices.Contains(m.options.ExtraArgs, noSandboxFlag) {
		p.hasSandbox = false
	}
	return p
}

func (m *Manager) seclude(path, profile string, o LaunchOptions, failed []error) plan {
	none := plan{how: SecludedNone, hasSandbox: os.Geteuid() != 0}
	switch {
	case m.options.Isolation == IsolationOff:
		none.lacks = "browser.isolation is off"
		return none
	case len(failed) > 1:
		none.lacks = reasons(failed)
		return none
	case len(failed) == 1 && m.options.Isolation != IsolationRequire && m.usesSetuidSandbox(path):
		none.lacks = reasons(failed) + "; Landlock would take Chromium's setuid sandbox from it"
		return none
	case len(failed) == 1 && !hasOwnTemp(profile) && (store{os.TempDir()}).isWithin(profile):
		none.lacks = reasons(failed) + "; with Landlock it could make no socket: the path of the state directory is too long"
		return none
	case len(failed) == 1:
		return plan{how: SecludedRules, hasSandbox: os.Geteuid() != 0, coveredRoot: m.store.dir, lacks: reasons(failed)}
	}
	p := plan{how: SecludedNamespace, hasSandbox: os.Geteuid() != 0, coveredRoot: m.store.dir}
	if os.Geteuid() != 0 {
		return p
	}
	switch user := m.freeUser(filepath.Base(profile)); {
	case !o.IsHeadless:
		p.lacks = "a browser with a window keeps the node's user, whose display it needs"
	case !isOthersToRun(path):
		p.lacks = path + " cannot be run by other users"
	case user == 0:
		p.lacks = "there is no user number left for it"
	default:
		p.how, p.user, p.coveredRoot = SecludedUser, user, closedTo(m.store.dir)
		p.hasSandbox = m.hasSandbox(user)
	}
	return p
}

// users are the numbers of browsers' users: a range that no distribution gives out, or
// a smaller one where this process's user namespace has only 65536.
var users = []struct{ first, count int }{{0x70000000, 65536}, {60578, 600}}

// freeUser chooses a user that no process runs as, by the browser's nonce; 0 where there
// is none.
func (m *Manager) freeUser(nonce string) int {
	taken := map[int]bool{}
	_ = scan(func(s procStat) { // what cannot be read is another's at most
		if info, err := os.Stat(procPath(s.PID, "")); err == nil {
			taken[ownerOf(info)] = true
		}
	})
	raw, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return 0
	}
	var seed int
	_, _ = fmt.Sscanf(nonce[:min(len(nonce), 7)], "%x", &seed)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range users {
		if !isMapped(string(raw), r.first, r.count) {
			continue
		}
		for i := range 64 {
			user := r.first + (seed+i)%r.count
			if !taken[user] && !m.users[user] {
				m.users[user] = true
				return user
			}
		}
	}
	return 0
}

// isMapped says whether a user namespace's map has the numbers.
func isMapped(uidMap string, first, count int) bool {
	for line := range strings.Lines(uidMap) {
		var inside, outside, size int
		if n, _ := fmt.Sscan(line, &inside, &outside, &size); n == 3 && inside <= first && first+count <= inside+size {
			return true
		}
	}
	return false
}

// isOthersToRun says whether any user may run the file.
func isOthersToRun(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	info, err := os.Stat(real)
	const readAndRun = 0o005
	return err == nil && info.Mode().Perm()&readAndRun == readAndRun && closedTo(filepath.Dir(real)) == filepath.Dir(real)
}

// closedTo is the first directory on the way to dir, from the root, that not every user
// may pass; dir itself where there is none before it.
func closedTo(dir string) string {
	for at := string(filepath.Separator); ; {
		info, err := os.Stat(at)
		const pass = 0o001
		if err != nil || info.Mode().Perm()&pass == 0 || at == dir {
			return at
		}
		rest, err := filepath.Rel(at, dir)
		if err != nil {
			return at
		}
		next, _, _ := strings.Cut(rest, string(filepath.Separator))
		at = filepath.Join(at, next)
	}
}

// hasSandbox says whether Chromium's own sandbox works for a user that is not root. It
// is found out once.
func (m *Manager) hasSandbox(user int) bool {
	m.sandbox.Do(func() {
		cmd := launcherCommand(launcherSpec{User: user, Probe: true})
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Dir = "/"
		done, err := start(cmd)
		if err != nil {
			return
		}
		defer done()
		ending := time.AfterFunc(killGrace, func() { _ = cmd.Process.Kill() })
		defer ending.Stop()
		m.canSandbox = cmd.Wait() == nil
	})
	return m.canSandbox
}

// setuidSandboxes are where Chromium's setuid sandbox is, besides the browser's directory.
var setuidSandboxes = []string{"/usr/lib/chromium/chrome-sandbox", "/opt/google/chrome/chrome-sandbox"}

// usesSetuidSandbox says whether the browser has a setuid sandbox that works here, as on
// a host that lets no user make namespaces. Landlock forbids new privileges for good, and
// with them that sandbox.
func (m *Manager) usesSetuidSandbox(path string) bool {
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil || os.Geteuid() == 0 || slices.Contains(m.options.ExtraArgs, noSandboxFlag) {
		return false
	}
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch name {
		case "NoNewPrivs":
			if value != "0" {
				return false
			}
		case "CapBnd": // what a setuid program can have at most
			bounds, err := strconv.ParseUint(value, 16, 64)
			if err != nil || bounds&(1<<unix.CAP_SYS_ADMIN) == 0 {
				return false
			}
		}
	}
	candidates := setuidSandboxes
	if real, err := filepath.EvalSymlinks(path); err == nil {
		candidates = append([]string{filepath.Join(filepath.Dir(real), "chrome-sandbox")}, candidates...)
	}
	return slices.ContainsFunc(candidates, func(helper string) bool {
		info, err := os.Stat(helper)
		return err == nil && info.Mode()&os.ModeSetuid != 0 && ownerOf(info) == 0
	})
}

// isolate has cmd begin as the launcher, which makes the browser's surroundings and
// becomes the browser. Started has to be called after cmd was started, and says why
// that did not come to pass.
func (m *Manager) isolate(cmd *exec.Cmd, profile string, p plan) (started func(startErr error) error, err error) {
	said, report, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe: %w", err)
	}
	spec := launcherSpec{
		User: p.user, DropAll: p.how != SecludedUser, ByRules: p.how == SecludedRules, Cover: p.coveredRoot, Keep: profile,
		Hide: m.options.Hide, Report: 3 + len(cmd.ExtraFiles), Path: cmd.Path, InUserNamespace: os.Geteuid() != 0 && p.how != SecludedRules,
	}
	launcher := launcherCommand(spec)
	cmd.Path, cmd.Args = launcher.Path, append(launcher.Args, cmd.Args...)
	cmd.ExtraFiles = append(cmd.ExtraFiles, report)
	cmd.Dir = "/"
	self := os.Geteuid()
	switch {
	case p.how == SecludedRules:
	case self == 0:
		cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	default:
		group := os.Getegid()
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: self, HostID: self, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: group, HostID: group, Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	return func(startErr error) error {
		_ = report.Close()
		defer said.Close()
		if startErr != nil {
			if isRefusal(startErr) {
				return fmt.Errorf("%w: %w", errIsolation, startErr)
			}
			return startErr
		}
		_ = said.SetReadDeadline(time.Now().Add(killGrace))
		why, err := io.ReadAll(io.LimitReader(said, 4096)) // ends when the browser begins
		if err != nil {
			why = []byte(err.Error())
		}
		if len(why) > 0 {
			return fmt.Errorf("%w: %s", errIsolation, why)
		}
		return nil
	}, nil
}

// isRefusal says whether the kernel has refused a namespace, for lack of a privilege or
// by a limit.
func isRefusal(err error) bool {
	for _, errno := range []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.ENOSPC, syscall.EUSERS, syscall.ENOSYS} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

func launcherCommand(spec launcherSpec) *exec.Cmd {
	raw, err := json.Marshal(spec)
	if err != nil {
		panic(err) // text and numbers
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{launcherName, string(raw)}
	return cmd
}
