package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdfast/internal/api/apitest"
	"holdfast/internal/cli"
	"holdfast/internal/config"
	"holdfast/messages"
)

// get asks without a token.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	defer http.DefaultClient.CloseIdleConnections()
	res, err := http.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func TestServe(t *testing.T) {
	t.Parallel()
	t.Run("it leaves what clients need, for its owner alone, and takes it away", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		s := m.serve()
		for _, name := range []string{"endpoint.json", "token"} {
			info, err := os.Stat(filepath.Join(m.state, name))
			if err != nil || info.Mode() != 0o600 {
				t.Fatal(name, info, err)
			}
		}
		m.want(0, "task", "ls")
		if code := s.stop(); code != 0 {
			t.Fatal(code, s.log)
		}
		if m.stopped != 1 {
			t.Errorf("the node was stopped %d times", m.stopped)
		}
		left, err := os.ReadDir(m.state)
		if err != nil {
			t.Fatal(err)
		}
		if len(left) != 1 || left[0].Name() != "token" {
			t.Error("left behind:", left)
		}
		if status, why := get(t, s.url+"/livez"); status != 0 {
			t.Error("it still answers:", status, why)
		}
		m.want(3, "task", "ls")
	})
	t.Run("an endpoint file that is another's stays", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		first := m.serve()
		second := m.serve()
		if code := first.stop(); code != 0 {
			t.Fatal(code)
		}
		b, err := os.ReadFile(filepath.Join(m.state, "endpoint.json"))
		if err != nil || !strings.Contains(string(b), second.url) {
			t.Fatal(string(b), err)
		}
		m.want(0, "task", "ls")
	})
	t.Run("the node gets what the flags say, the variables what they do not, the file what is left", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.env["HOLDFAST_CDP_URL_OVERRIDE"] = "ws://override.test/planted-9c1e5f0a77"
		m.env["HOLDFAST_MAX_LIFE"], m.env["HOLDFAST_MAX_LIVES"] = "48h", "9"
		file := m.write("config.yaml", "limits: {max_tasks: 7, idle_timeout: 90s, max_life: 1h}\nallow_chaos: true\nlogging: {format: json}\nallow_hosts: [holdfast.test]\nbrowser: {path: /from/file, args: ['--a=1,2', --b]}\n")
		s := m.serve("--config", file, "--chrome", "/from/flag", "--max-browsers=3", "--no-allow-chaos")
		got := m.config.Config
		if got.CDPURLOverride.Reveal() != "ws://override.test/planted-9c1e5f0a77" {
			t.Error(got.CDPURLOverride)
		}
		want, err := config.Load(config.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		want.Listen, want.AllowHosts = "127.0.0.1:0", []string{"holdfast.test"}
		want.StateDir, want.TokenFile, want.CDPURLOverride = m.state, filepath.Join(m.state, "token"), got.CDPURLOverride
		want.Limits.MaxTasks, want.Limits.MaxBrowsers, want.Limits.IdleTimeout, want.Limits.MaxLife = 7, 3, 90*time.Second, 48*time.Hour
		want.Browser = config.Browser{Path: "/from/flag", Args: []string{"--a=1,2", "--b"}, Transport: "pipe", Isolation: "auto", Sandbox: "auto", ShareLinks: "auto"}
		want.Logging = config.Logging{Level: slog.LevelDebug, Format: "json"}
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want.Config) {
			t.Errorf("got %+v\nwant %+v", got, want.Config)
		}
		m.want(0, "task", "ls")
		s.stop()
		tok, err := os.ReadFile(s.tokenFile)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"planted", strings.TrimSpace(string(tok))} {
			if strings.Contains(s.log.String(), secret) {
				t.Errorf("%q is in the log", secret)
			}
		}
		if !json.Valid([]byte(strings.SplitN(s.log.String(), "\n", 2)[0])) || !strings.Contains(s.log.String(), `"msg":"request"`) || !strings.Contains(s.log.String(), "there is no variable HOLDFAST_MAX_LIVES") {
			t.Error("the log is not as asked:", s.log)
		}
	})
	t.Run("a file that is not right is refused, on one line and without its values", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		for content, why := range map[string]string{
			`{"max-task":7}`:                             ":1:2: there is no key max-task: is it limits.max_tasks?",
			"limits:\n  max_tasks: planted":              ":2:14: limits.max_tasks must be a whole number",
			"cdp_url_override: ftp://planted\n":          ":1:19: cdp_url_override must be",
			"logging: {level: planted, format: planted}": ":1:18: logging.level must be",
		} {
			path := m.write("config.yaml", content)
			for _, args := range [][]string{{"serve", "--listen", "127.0.0.1:0", "--config", path}, {"config", "print", "--config", path}} {
				out, errs := m.want(2, args...)
				if strings.Contains(errs, "planted") || !strings.HasPrefix(errs, "invalid_argument: "+path+why) || strings.Count(errs, "\n") != 1 || out != "" {
					t.Errorf("%s: %q", content, errs)
				}
			}
			m.env["HOLDFAST_CONFIG"] = path
			m.want(2, "serve", "--listen", "127.0.0.1:0")
			delete(m.env, "HOLDFAST_CONFIG")
			if out, _ := m.want(1, "config", "check", path); strings.Contains(out, "planted") || !strings.HasPrefix(out, path+why) {
				t.Errorf("%s: %q", content, out)
			}
		}
		if out, _ := m.want(0, "config", "check", m.write("config.yaml", "limits:\n  max_tasks: 1\n")); !strings.HasSuffix(out, " is right\n") {
			t.Error(out)
		}
		m.want(2, "config", "check", filepath.Join(t.TempDir(), "none"))
	})
	t.Run("config print shows what holds, and where it comes from", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.env["HOLDFAST_CDP_URL_OVERRIDE"], m.env["HOLDFAST_TYPO"] = "ws://override.test/planted-9c1e5f0a77", "1"
		file := m.write("config.yaml", "limits:\n  max_tasks: 7\n")
		out, errs := m.want(0, "config", "print", "--config", file, "--log-level", "warn", "--token-file", "/t")
		for _, want := range []string{"  max_tasks: 7 ", "# " + file + ":2:14\n", "  level: warn ", "# --log-level\n", `cdp_url_override: "***"`, "# HOLDFAST_CDP_URL_OVERRIDE\n", "token_file: /t", "# default\n", "max_tenant_tasks: 0", ", in effect 6\n"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in\n%s", want, out)
			}
		}
		if strings.Contains(out+errs, "planted") || errs != "warning: there is no variable HOLDFAST_TYPO; it has no effect\n" {
			t.Error(out, errs)
		}
		out, _ = m.want(0, "config", "print", "--json", "--config", file)
		var said struct {
			Settings []struct {
				Key, Origin, Where string
				Value              any
				Reload             bool
			}
		}
		if err := json.Unmarshal([]byte(out), &said); err != nil || len(said.Settings) != len(config.Keys()) || strings.Contains(out, "planted") {
			t.Fatal(err, out)
		}
		for _, s := range said.Settings {
			if s.Key == "limits.max_tasks" && (s.Value != 7.0 || s.Origin != "file" || s.Where != file+":2:14" || !s.Reload) {
				t.Errorf("%+v", s)
			}
		}
	})
	t.Run("metrics are on the same address, or on their own, or nowhere", func(t *testing.T) {
		t.Parallel()
		metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("up 1\n")) })
		m := newMachine(t)
		m.started = func(n *cli.RunningNode) error { n.Metrics = metrics; return nil }
		s := m.serve()
		if status, body := get(t, s.url+"/metrics"); status != 200 || body != "up 1\n" {
			t.Error(status, body)
		}
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		own := free.Addr().String()
		free.Close()
		s = m.serve("--metrics-listen", own)
		if status, body := get(t, "http://"+own+"/metrics"); status != 200 || body != "up 1\n" {
			t.Error(status, body)
		}
		if status, _ := get(t, "http://"+own+"/v1/tasks"); status == 200 {
			t.Error("tasks are served to everybody")
		}
		if status, _ := get(t, s.url+"/metrics"); status != 401 {
			t.Error("metrics are served twice:", status)
		}
		if code := s.stop(); code != 0 {
			t.Error(code, s.log)
		}
		m.started = nil
		if status, _ := get(t, m.serve().url+"/metrics"); status != 401 {
			t.Error(status)
		}
	})
	t.Run("other machines may ask when a name is given", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		s := m.serve("--listen", "0.0.0.0:0", "--allow-host", "node.test")
		if !strings.HasPrefix(s.url, "http://127.0.0.1:") {
			t.Error(s.url)
		}
		m.want(0, "task", "ls")
	})
	t.Run("1 when it cannot start, and nothing is left", func(t *testing.T) {
		t.Parallel()
		taken, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		m := newMachine(t)
		m.started = func(*cli.RunningNode) error { t.Error("a node was started"); return nil }
		m.want(1, "serve", "--listen", taken.Addr().String())
		m.want(1, "serve", "--listen", "127.0.0.1:0", "--metrics-listen", taken.Addr().String())
		readable := m.write("token", strings.Repeat("A", 43))
		if err := os.Chmod(readable, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, errs := m.want(1, "serve", "--listen", "127.0.0.1:0", "--token-file", readable); !strings.Contains(errs, "chmod 600") || strings.Contains(errs, "AAAA") {
			t.Error(errs)
		}
		m.started = func(*cli.RunningNode) error { return messages.Errorf(messages.CodeUpstreamUnavailable, "no browser") }
		if _, errs := m.want(1, "serve", "--listen", "127.0.0.1:0"); !strings.HasPrefix(errs, "upstream_unavailable: ") {
			t.Error(errs)
		}
		if _, err := os.Stat(filepath.Join(m.state, "endpoint.json")); err == nil {
			t.Error("an endpoint is told of that does not exist")
		}
	})
	t.Run("1 when the node did not end well", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t)
		m.stopErr = errors.New("a browser is left")
		s := m.serve()
		if code := s.stop(); code != 1 || !strings.Contains(s.log.String(), "a browser is left") {
			t.Error(code, s.log)
		}
	})
}

func TestFindingTheNode(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	other := newMachine(t)
	m.node.List = []*messages.Snapshot{apitest.Active("here")}
	other.node.List = []*messages.Snapshot{apitest.Active("there")}
	m.serve()
	there := other.serve()
	sees := func(name string, args ...string) {
		t.Helper()
		if out, _ := m.want(0, append([]string{"task", "ls"}, args...)...); !strings.Contains(out, name) {
			t.Errorf("%v: %s", args, out)
		}
	}
	sees("here")
	sees("there", "--node", there.url, "--token-file", there.tokenFile)
	sees("there", "--node", there.url+"/", "--token-file", there.tokenFile)
	// Our own token is not sent to a node that did not write it.
	if _, errs := m.want(1, "task", "ls", "--node", there.url); !strings.HasPrefix(errs, "unauthorized: ") {
		t.Error(errs)
	}
	m.env["HOLDFAST_NODE"] = there.url
	tok, err := os.ReadFile(there.tokenFile)
	if err != nil {
		t.Fatal(err)
	}
	m.env["HOLDFAST_TOKEN"] = string(tok)
	sees("there")
	t.Run("a damaged endpoint file is not trusted", func(t *testing.T) {
		for _, content := range []string{"", "{", "[]", `{"url":""}`, strings.Repeat(" ", 1<<20)} {
			m := newMachine(t)
			if err := os.MkdirAll(m.state, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(m.state, "endpoint.json"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			m.want(3, "task", "ls")
		}
	})
	t.Run("the state directory follows the environment", func(t *testing.T) {
		home := t.TempDir()
		for _, env := range []map[string]string{
			{"HOME": home}, {"HOME": home, "XDG_STATE_HOME": filepath.Join(home, "xdg")}, {"HOME": home, "XDG_STATE_HOME": "relative"},
		} {
			m := newMachine(t)
			m.env = env
			s := m.serve()
			want := filepath.Join(home, ".local", "state", "holdfast", "token")
			if strings.HasPrefix(env["XDG_STATE_HOME"], "/") {
				want = filepath.Join(home, "xdg", "holdfast", "token")
			}
			if s.tokenFile != want {
				t.Errorf("%v: %s", env, s.tokenFile)
			}
			m.want(0, "task", "ls")
		}
		m := newMachine(t)
		m.env = nil
		m.want(2, "serve", "--listen", "127.0.0.1:0")
	})
}

func TestTokensForOthers(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	if _, errs := m.want(1, "token", "--task", "one"); !strings.Contains(errs, "token") {
		t.Error(errs)
	}
	m.serve("--token-file", filepath.Join(t.TempDir(), "elsewhere"))
	task, _ := m.want(0, "token", "--task", "one")
	tenant, _ := m.want(0, "token", "--tenant", "acme")
	for tok, codes := range map[string]map[string]int{
		task:   {"task show one": 0, "task show two": 1, "task start --new": 1},
		tenant: {"task show acme:1": 0, "task show one": 1, "task start --new": 0},
	} {
		m.env["HOLDFAST_TOKEN"] = tok
		for line, code := range codes {
			_, errs := m.want(code, strings.Fields(line)...)
			if code == 1 && !strings.HasPrefix(errs, "forbidden: ") {
				t.Error(errs)
			}
		}
	}
}
