package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// launcherName is what a program of ours is called while it makes a browser's
// surroundings. It is the same binary, so nothing else has to be installed.
const launcherName = "holdfast-launcher"

// launcherSpec is what the launcher does before it becomes the browser.
type launcherSpec struct {
	User            int      `json:"user,omitempty"` // and group; 0 stays
	DropAll         bool     `json:"drop_all,omitempty"`
	InUserNamespace bool     `json:"in_user_namespace,omitempty"`
	ByRules         bool     `json:"by_rules,omitempty"` // Landlock takes the place of the mounts
	Cover           string   `json:"cover,omitempty"`    // an empty directory takes its place
	Keep            string   `json:"keep,omitempty"`     // below Cover, and still there
	Hide            []string `json:"hide,omitempty"`     // files that are empty from now on
	Report          int      `json:"report,omitempty"`
	Path            string   `json:"path,omitempty"`
	Probe           bool     `json:"probe,omitempty"` // only find out whether a sandbox works
	Ended           bool     `json:"ended,omitempty"` // only end, with status 0
}

// init takes over where the process is the launcher, before anything of the program
// around it begins.
func init() {
	if len(os.Args) < 2 || os.Args[0] != launcherName {
		return
	}
	var s launcherSpec
	if err := json.Unmarshal([]byte(os.Args[1]), &s); err != nil {
		os.Exit(launcherFailed)
	}
	switch {
	case s.Ended:
		os.Exit(0)
	case s.Probe:
		if err := s.probe(); err != nil {
			os.Exit(launcherFailed)
		}
		os.Exit(0)
	}
	report := os.NewFile(uintptr(s.Report), "report")
	syscall.CloseOnExec(s.Report)
	// Init runs on the main thread alone: privileges are the thread's.
	err := s.enter()
	if err == nil {
		err = fmt.Errorf("run %s: %w", s.Path, syscall.Exec(s.Path, os.Args[2:], os.Environ()))
	}
	_, _ = report.WriteString(err.Error())
	os.Exit(launcherFailed)
}

const launcherFailed = 125

// enter makes the surroundings; what fails leaves a process that may only end.
func (s launcherSpec) enter() error {
	if s.ByRules {
		if err := dropAll(); err != nil {
			return err
		}
		return confine(append(s.Hide, s.Cover), s.Keep)
	}
	if s.InUserNamespace {
		// Root's own namespace is private already.
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
			return fmt.Errorf("part the mounts: %w", err)
		}
	}
	for _, path := range s.Hide {
		if err := hide(path); err != nil {
			return err
		}
	}
	if err := s.cover(); err != nil {
		return err
	}
	if s.DropAll {
		if err := dropAll(); err != nil {
			return err
		}
	}
	return s.become()
}

// cover puts an empty directory in the place of another, with one directory of it kept
// at its path.
func (s launcherSpec) cover() error {
	kept, err := unix.Open(s.Keep, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the profile: %w", err)
	}
	defer unix.Close(kept)
	below, err := filepath.Rel(s.Cover, s.Keep)
	if err != nil || below == "." || strings.HasPrefix(below, "..") {
		return errors.New("the profile is not below the directory that is covered")
	}
	if err := unix.Mount("holdfast", s.Cover, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755,size=256k,nr_inodes=256"); err != nil {
		return fmt.Errorf("cover %s: %w", s.Cover, err)
	}
	at := s.Cover
	for part := range strings.SplitSeq(below, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if err := unix.Mkdir(at, 0o755); err != nil {
			return fmt.Errorf("cover %s: %w", s.Cover, err)
		}
	}
	if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", kept), s.Keep, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("keep the profile: %w", err)
	}
	if err := unix.Mount("", s.Cover, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("cover %s: %w", s.Cover, err)
	}
	return nil
}

// hide makes a file empty; one that is not there needs no hiding.
func hide(path string) error {
	err := unix.Mount(os.DevNull, path, "", unix.MS_BIND, "")
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("hide %s: %w", path, err)
	}
	return nil
}

// dropAll gives up every privilege for good, also those that root gets anew with a
// program that it runs. So the browser may not look into processes of the same user
// that have more, the node among them.
func dropAll() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop privileges: %w", err)
	}
	if os.Geteuid() != 0 {
		return nil // the next program has none
	}
	for privilege := range 64 {
		if has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(privilege), 0, 0, 0); err != nil || has == 0 {
			continue // the kernel has no such privilege, or this process has not
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(privilege), 0, 0, 0); err != nil {
			return fmt.Errorf("drop privileges: %w", err)
		}
	}
	return nil
}

// become changes the user, for good.
func (s launcherSpec) become() error {
	if s.User == 0 {
		return nil
	}
	err := syscall.Setgroups([]int{})
	if err == nil {
		err = syscall.Setgid(s.User)
	}
	if err == nil {
		err = syscall.Setuid(s.User)
	}
	if err != nil {
		return fmt.Errorf("become user %d: %w", s.User, err)
	}
	return nil
}

// probe makes the namespaces that Chromium's sandbox is made of, as the browser's user.
func (s launcherSpec) probe() error {
	if err := s.become(); err != nil {
		return err
	}
	// A process that has changed its user may not write its children's maps, otherwise.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		return err
	}
	raw, err := json.Marshal(launcherSpec{Ended: true})
	if err != nil {
		return err
	}
	user, group := os.Geteuid(), os.Getegid()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{launcherName, string(raw)}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: user, HostID: user, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: group, HostID: group, Size: 1}},
	}
	return cmd.Run()
}
