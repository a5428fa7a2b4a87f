package cli_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/chromiumtest"
	"holdfast/internal/cli"
	"holdfast/messages"
)

// examine runs doctor and returns its findings by check.
func (m *machine) examine(code int, args ...string) map[string]string {
	m.Helper()
	out, _ := m.want(code, append([]string{"doctor", "--json", "--listen", "127.0.0.1:0"}, args...)...)
	var said struct {
		OK     bool `json:"ok"`
		Checks []struct{ Check, Status, Found, Mend string }
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil || said.OK != (code == 0) || len(said.Checks) != 14 {
		m.Fatal(err, out)
	}
	found := make(map[string]string)
	for _, c := range said.Checks {
		found[c.Check] = c.Status
		if c.Found == "" || (c.Mend != "") != (c.Status == "failed" || c.Status == "warning") {
			m.Errorf("%+v", c)
		}
	}
	return found
}

func TestX21Doctor(t *testing.T) {
	t.Parallel()
	t.Run("a machine that is well, before and beside a node", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		found := m.examine(0)
		for check, want := range map[string]string{"configuration": "ok", "chromium": "ok", "browser starts": "ok", "pipe transport": "ok", "orphans": "ok", "memory pressure": "ok", "state directory": "ok", "token file": "skipped", "node": "skipped", "port": "ok"} {
			if found[check] != want {
				t.Errorf("%s: %s", check, found[check])
			}
		}
		s := m.serve()
		found = m.examine(0, "--listen", strings.TrimPrefix(s.url, "http://"))
		if found["node"] != "ok" || found["token file"] != "ok" || found["port"] != "ok" {
			t.Error(found)
		}
		left, err := filepath.Glob(filepath.Join(m.state, ".*"))
		if err != nil || len(left) != 0 {
			t.Error("left behind:", left, err)
		}
	})
	t.Run("each thing that is missing is named, with its mend", func(t *testing.T) {
		t.Parallel()
		notChrome := filepath.Join(t.TempDir(), "chrome")
		if err := os.WriteFile(notChrome, []byte("#!/bin/sh\n[ \"$1\" = --version ] && echo Chromium 1.0 && exit\necho broken >&2; exit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		m := newMachine(t)
		if found := m.examine(1, "--chrome", "/does/not/exist"); found["chromium"] != "failed" || found["browser starts"] != "skipped" {
			t.Error(found)
		}
		if found := m.examine(1, "--chrome", notChrome); found["chromium"] != "ok" || found["browser starts"] != "failed" {
			t.Error(found)
		}
		readable := m.write("token", strings.Repeat("A", 43))
		if err := os.Chmod(readable, 0o640); err != nil {
			t.Fatal(err)
		}
		if found := m.examine(1, "--chrome", notChrome, "--token-file", readable); found["token file"] != "failed" {
			t.Error(found)
		}
		if found := m.examine(1, "--chrome", notChrome, "--node", "http://"+closedAddress(t)); found["node"] != "failed" {
			t.Error(found)
		}
		m.env["HOLDFAST_STATE_DIR"] = filepath.Join(readable, "below a file")
		if found := m.examine(1, "--chrome", notChrome); found["state directory"] != "failed" {
			t.Error(found)
		}
		go func() { // the server on the port answers with nonsense
			for {
				c, err := taken.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
		if found := m.examine(1, "--chrome", notChrome, "--listen", taken.Addr().String()); found["port"] != "failed" {
			t.Error(found)
		}
	})
	t.Run("it goes by the configuration of the node", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		said := filepath.Join(t.TempDir(), "arguments")
		chrome := m.write("chrome", "#!/bin/sh\n[ \"$1\" = --version ] && echo Chromium 1.0 && exit\necho \"$@\" >"+said+"; exit 1\n")
		if err := os.Chmod(chrome, 0o755); err != nil {
			t.Fatal(err)
		}
		m.env["HOLDFAST_CONFIG"] = m.write("holdfast.yaml", "browser:\n  path: "+chrome+"\n  args: [--of-the-file]\n")
		if found := m.examine(1); found["configuration"] != "ok" || found["browser starts"] != "failed" {
			t.Error(found)
		}
		if args, err := os.ReadFile(said); err != nil || !strings.Contains(string(args), "--of-the-file") {
			t.Errorf("launched with %s (%v)", args, err)
		}
		m.env["HOLDFAST_CONFIG"] = m.write("wrong.yaml", "limits:\n  max_task: 7\n")
		if found := m.examine(1, "--chrome", chrome); found["configuration"] != "failed" || found["state directory"] != "ok" {
			t.Error(found)
		}
	})
	t.Run("descriptors for the tasks and callers that are let in", func(t *testing.T) {
		t.Parallel()
		const need = 2*200 + 2*8 + 100 + 8192
		limits := messages.Limits{MaxTasks: 200, MaxBrowsers: 8}
		if status, mend := cli.Descriptors(need, limits); status != "ok" || mend != "" {
			t.Error(status, mend)
		}
		if status, mend := cli.Descriptors(need-1, limits); status != "warning" || !strings.Contains(mend, fmt.Sprint(need)) {
			t.Error(status, mend)
		}
	})
	t.Run("for people", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		out, errs := m.want(1, "doctor", "--chrome", "/does/not/exist", "--listen", "127.0.0.1:0")
		if !strings.Contains(out, "failed   chromium") || !strings.Contains(out, "→ install it") || !strings.HasPrefix(errs, "check_failed: something is missing") {
			t.Error(out, errs)
		}
	})
}

func closedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestDoctorExaminesABrowser(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	b := chromiumtest.Launch(t)
	out, _ := m.want(0, "doctor", "--cdp-url", b.WS(), "--json")
	var said struct {
		OK     bool
		Checks []struct {
			Check, Status, Found string
			MaxMessageMiB        *int `json:"max_message_mib"`
		}
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil || !said.OK || len(said.Checks) != 8 {
		t.Fatal(err, out)
	}
	for _, c := range said.Checks {
		if c.Status != "ok" || c.Found == "" || (c.Check == "message size") != (c.MaxMessageMiB != nil && *c.MaxMessageMiB == 48) {
			t.Errorf("%+v", c)
		}
	}
	out, _ = m.want(1, "doctor", "--cdp-url", "ws://127.0.0.1:1/devtools/browser/secret-key-of-a-session")
	if !strings.Contains(out, "failed   connection") || strings.Contains(out, "secret-key") {
		t.Error(out)
	}
}
