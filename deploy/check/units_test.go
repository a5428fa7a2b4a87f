package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestSystemdUnit(t *testing.T) {
	t.Parallel()
	unit := read(t, "deploy", "systemd", "holdfast.service")
	directive := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(unit)
		if m == nil {
			t.Fatalf("%s is not set", name)
		}
		return m[1]
	}
	t.Run("systemd takes it, and finds little exposed", func(t *testing.T) {
		t.Parallel()
		// The binary is not installed where this runs.
		path := filepath.Join(t.TempDir(), "holdfast.service")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(unit, "/usr/local/bin/holdfast", "/bin/true")), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"verify", path}, {"security", "--offline=true", "--threshold=25", path}} {
			out, err := exec.Command("systemd-analyze", args...).CombinedOutput()
			if err != nil || args[0] == "verify" && len(out) > 0 {
				t.Errorf("%s: %v\n%s", args[0], err, out)
			}
		}
	})
	t.Run("the node would start", func(t *testing.T) {
		t.Parallel()
		e := effective(t, strings.Fields(directive("ExecStart"))[1:], "limits: {max_tasks: 100}\n", nil)
		stop, err := time.ParseDuration(directive("TimeoutStopSec"))
		if err != nil || stop < e.duration(t, "drain.timeout")+5*time.Second {
			t.Errorf("%v to stop, for a drain of %v: %v", stop, e.text("drain.timeout"), err)
		}
	})
	t.Run("what a node and Chromium lean on", func(t *testing.T) {
		t.Parallel()
		for name, want := range map[string]string{
			"Type": "notify", "NotifyAccess": "main", "KillMode": "mixed", "KillSignal": "SIGTERM", "ExecReload": "/bin/kill -HUP $MAINPID",
			"MemoryDenyWriteExecute": "no", "RestrictNamespaces": "user pid net", "NoNewPrivileges": "yes", "OOMPolicy": "continue",
		} {
			if got := directive(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	})
}

// The profile lets Chromium's sandbox be, and no more of what makes a user
// namespace dangerous.
func TestSeccompProfile(t *testing.T) {
	t.Parallel()
	profile := strict[struct {
		DefaultAction   string   `json:"defaultAction"`
		DefaultErrnoRet int      `json:"defaultErrnoRet"`
		Architectures   []string `json:"architectures"`
		Syscalls        []struct {
			Comment string   `json:"comment"`
			Names   []string `json:"names"`
			Action  string   `json:"action"`
			Args    []struct {
				Index    int    `json:"index"`
				Value    uint64 `json:"value"`
				ValueTwo uint64 `json:"valueTwo"`
				Op       string `json:"op"`
			} `json:"args"`
		} `json:"syscalls"`
	}](t, read(t, "deploy", "docker", "seccomp.json"))
	if profile.DefaultAction != "SCMP_ACT_ERRNO" || profile.DefaultErrnoRet != 38 { // ENOSYS: C libraries know what to do
		t.Error(profile.DefaultAction, profile.DefaultErrnoRet)
	}
	free := map[string]bool{}   // whatever the arguments
	masked := map[string]bool{} // not for new mount, cgroup, uts and ipc namespaces
	for _, s := range profile.Syscalls {
		for _, name := range s.Names {
			switch {
			case s.Action != "SCMP_ACT_ALLOW":
				t.Errorf("%s: %s", name, s.Action)
			case len(s.Args) == 0:
				free[name] = true
			case s.Args[0].Op == "SCMP_CMP_MASKED_EQ":
				masked[name] = s.Args[0].Value == 0x20000|0x2000000|0x4000000|0x8000000 && s.Args[0].ValueTwo == 0
			}
		}
	}
	for _, name := range []string{"clone", "unshare"} {
		if free[name] || !masked[name] {
			t.Errorf("%s takes any namespace", name)
		}
	}
	for _, name := range []string{"chroot", "seccomp", "prctl", "execve"} {
		if !free[name] {
			t.Errorf("%s is needed", name)
		}
	}
	for _, name := range []string{
		"socket", "mount", "umount2", "pivot_root", "setns", "clone3", "ptrace", "bpf", "perf_event_open", "keyctl", "io_uring_setup", "userfaultfd",
		"init_module", "kexec_load", "open_by_handle_at", "process_vm_readv", "fsopen", "move_mount", "reboot", "syslog",
	} {
		if free[name] {
			t.Errorf("%s is let through", name)
		}
	}
}

// The image is what the manifests take it for.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	file := read(t, "deploy", "docker", "Dockerfile")
	for what, want := range map[string]string{
		"a user by number": `(?m)^USER 10001:10001$`, "the state": `(?m)^VOLUME /var/lib/holdfast$`,
		"where it is": `HOLDFAST_STATE_DIR=/var/lib/holdfast`, "a health check without a shell": `CMD \["holdfast", "probe", "live"\]`,
		"the binary as the first process": `(?m)^ENTRYPOINT \["holdfast"\]$`, "SIGTERM": `(?m)^STOPSIGNAL SIGTERM$`,
		"Go's image by tag": `(?m)^ARG GO_IMAGE=golang:\S+-bookworm$`, "the base by tag": `(?m)^ARG BASE_IMAGE=debian:bookworm-slim$`,
	} {
		if !regexp.MustCompile(want).MatchString(file) {
			t.Errorf("%s is missing: %s", what, want)
		}
	}
	effective(t, []string{"serve"}, "", map[string]string{"HOLDFAST_STATE_DIR": "/var/lib/holdfast"})
}
