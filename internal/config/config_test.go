package config_test

import (
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdfast/internal/config"
	"holdfast/messages"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "holdfast.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, s config.Sources) *config.Effective {
	t.Helper()
	e, err := config.Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTable(t *testing.T) {
	t.Parallel()
	snake := regexp.MustCompile(`^[a-z]+(_[a-z]+)*(\.[a-z]+(_[a-z]+)*)?$`)
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	for _, k := range config.Keys() {
		for _, name := range []string{k.Path, "--" + k.Flag, k.Env} {
			if seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
		if !snake.MatchString(k.Path) || !kebab.MatchString(k.Flag) {
			t.Errorf("%s, --%s: not a name of ours", k.Path, k.Flag)
		}
		if k.Help == "" || !strings.HasSuffix(k.Help, ".") {
			t.Errorf("%s has no description, or one that is no sentence", k.Path)
		}
		if (k.Default == "") == (k.Empty == "") {
			t.Errorf("%s: it has either a default or words for none", k.Path)
		}
		// What is the default for flags and docs is the default in fact.
		got := load(t, config.Sources{Flags: map[string][]string{}})
		if k.Default != "" {
			with := load(t, config.Sources{Flags: map[string][]string{k.Flag: {k.Default}}})
			if !reflect.DeepEqual(got.Config, with.Config) {
				t.Errorf("%s: its default is not what the default says", k.Path)
			}
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	file := write(t, "limits:\n  max_tasks: 1\n  idle_timeout: 1m\n  max_life: 1h\nlogging: {level: warn}\n")
	e := load(t, config.Sources{
		File:    file,
		Environ: []string{"HOLDFAST_MAX_TASKS=2", "HOLDFAST_IDLE_TIMEOUT=2m", "HOLDFAST_LOG_LEVEL=", "OTHER=x", "HOLDFAST_MAX_TASK=9"},
		Flags:   map[string][]string{"max-tasks": {"3"}},
	})
	want := load(t, config.Sources{}).Limits
	want.MaxTasks, want.IdleTimeout, want.MaxLife = 3, 2*time.Minute, time.Hour
	if e.Limits != want || e.Logging.Level != slog.LevelWarn {
		t.Errorf("%+v", e.Config)
	}
	for path, want := range map[string]string{
		"limits.max_tasks": "--max-tasks", "limits.idle_timeout": "HOLDFAST_IDLE_TIMEOUT",
		"limits.max_life": file + ":4:13", "logging.level": file + ":5:18", "logging.format": "default",
	} {
		if got := e.Origin(path).String(); got != want {
			t.Errorf("%s is from %q, want %q", path, got, want)
		}
	}
	if want := []string{"there is no variable HOLDFAST_MAX_TASK; it has no effect"}; !slices.Equal(e.Warnings, want) {
		t.Error(e.Warnings)
	}
}

func TestVariablesThatAreNoSettings(t *testing.T) {
	t.Parallel()
	e := load(t, config.Sources{Environ: []string{
		"HOLDFAST_NODE=x", "HOLDFAST_TOKEN=x", "HOLDFAST_CONFIG=x", "BE_HOLDFAST=1",
		// A Service named holdfast, or holdfast-node.
		"HOLDFAST_SERVICE_HOST=10.0.0.1", "HOLDFAST_SERVICE_PORT=7070", "HOLDFAST_SERVICE_PORT_HTTP=7070", "HOLDFAST_PORT=tcp://10.0.0.1:7070",
		"HOLDFAST_PORT_7070_TCP=x", "HOLDFAST_PORT_7070_TCP_ADDR=x", "HOLDFAST_NODE_SERVICE_HOST=x", "HOLDFAST_NODE_PORT_7070_TCP_PROTO=x",
	}})
	if len(e.Warnings) != 0 {
		t.Error(e.Warnings)
	}
}

// TestRefused: what does not make sense is refused, and said where it stands,
// without the value.
func TestRefused(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"limits:\n  max_task: 1":                             "2:3: there is no key limits.max_task: is it limits.max_tasks?",
		"max-tasks: 1":                                       "1:1: there is no key max-tasks: is it limits.max_tasks?",
		"max_tasks: 1":                                       "1:1: there is no key max_tasks: is it limits.max_tasks?",
		"loging: {}":                                         "1:1: there is no key loging",
		"node: http://planted":                               "1:1: there is no key node",
		"limits:\n  max_tasks: planted":                      "2:14: limits.max_tasks must be a whole number",
		"limits:\n  max_tasks: '1'":                          "2:14: limits.max_tasks must be a whole number",
		"limits:\n  max_tasks: 1.5":                          "2:14: limits.max_tasks must be a whole number",
		"limits:\n  max_tasks: 0x10":                         "2:14: limits.max_tasks must be a whole number",
		"limits:\n  max_tasks:":                              "2:14: limits.max_tasks must be a whole number",
		"limits:\n  max_tasks: [1]":                          "2:14: limits.max_tasks must be a whole number",
		"limits:\n  max_tasks: {planted: 1}":                 "2:14: limits.max_tasks must be a whole number",
		"limits:\n  max_tasks: 0":                            "2:14: limits.max_tasks must be 1 or more",
		"limits:\n  max_tasks: 99999999999999999999":         "2:14: limits.max_tasks must be a whole number",
		"limits:\n  max_tasks: 1000001":                      "2:14: limits.max_tasks must be 1000000 or less",
		"limits:\n  max_tasks: 1\n  max_tasks: 2":            "3:3: ",
		"limits: {max_tasks: 1, max_tasks: 2}":               "1:24: ",
		"limits:\n  max_tasks: 1\nlimits:\n  max_tasks: 2":   "3:1: ",
		"limits: 5":                                          "1:9: limits must hold KEY: VALUE lines",
		"limits:\n- max_tasks: 5":                            "2:1: limits must hold KEY: VALUE lines",
		"planted":                                            "1:1: the file must hold KEY: VALUE lines",
		"[]":                                                 "1:1: the file must hold KEY: VALUE lines",
		"1: 2":                                               "1:",
		"limits:\n  idle_timeout: 90":                        "2:17: limits.idle_timeout must be a duration with its unit, such as 90s, 15m or 24h",
		"limits:\n  idle_timeout: -1s":                       "2:17: limits.idle_timeout must be 1s or more",
		"logging:\n  level: planted":                         "2:10: logging.level must be debug, info, warn or error",
		"logging:\n  level: info+1":                          "2:10: logging.level must be",
		"logging:\n  format: planted":                        "2:11: logging.format must be text or json",
		"allow_chaos: yes":                                   "1:14: allow_chaos must be true or false",
		"browser:\n  args: --a":                              "2:9: browser.args must be a list of texts",
		"browser:\n  args: [1]":                              "2:9: browser.args must be a list of texts",
		"browser:\n  args: ['']":                             "2:9: browser.args holds an empty text",
		"browser:\n  path: 7":                                "2:9: browser.path must be a text",
		"listen: 7070":                                       "1:9: listen must be HOST:PORT",
		"listen: h:99999":                                    "1:9: listen must be HOST:PORT",
		"listen: ''":                                         "1:9: listen must be HOST:PORT",
		"listen: unix:h.sock":                                "1:9: listen must be HOST:PORT",
		"listen: unix:/" + strings.Repeat("h", 103):          "1:9: listen must be HOST:PORT",
		"listen: 0.0.0.0:7070":                               "1:9: listen is open to other machines",
		"metrics_listen: ':9'":                               "1:17: metrics_listen is open to other machines",
		"admin_listen: 0.0.0.0:6060\nallow_hosts: [h]":       "1:15: admin_listen must be a loopback address",
		"limits: {memory_high: 0.5, memory_low: 0.5}":        "1:40: limits.memory_low must be below limits.memory_high",
		"limits: {memory_high: .nan}":                        "1:23: limits.memory_high must be a number",
		"limits: {memory_high: 1e9}":                         "1:23: limits.memory_high must be",
		"drain: {timeout: 5s, delay: 5s}":                    "1:29: drain.delay must be shorter than drain.timeout",
		"cdp_url_override: ftp://planted":                    "1:19: cdp_url_override must be a ws, wss, http or https URL",
		"cdp_url_override: {planted: 1}":                     "1:19: cdp_url_override must be",
		"cdp_url_override: 'ws://planted":                    "1:19: ",
		"listen: |planted\n  x":                              "1:9: the file is not YAML: invalid header option",
		"a: &planted 1":                                      "1:",
		"allow_chaos: &a true":                               "1:14: allow_chaos must be true or false",
		"x: &a {allow_chaos: true}\n<<: *a":                  "1:1: there is no key x",
		"allow_chaos: !!bool true":                           "1:14: allow_chaos must be true or false",
		"--- \nallow_chaos: true\n---\nallow_chaos: false\n": "3:1: there is more than one document",
		"{":           "1:1: ",
		"\tlisten: x": "1:",
		"listen: 127.0.0.1:1\n listen: 127.0.0.1:2":           "1:9: ",
		strings.Repeat("# comment\n", config.MaxFile/10+1):    "1:1: the file is larger than 65536 bytes",
		strings.Repeat("[", config.MaxFile):                   "1:33: the file is nested deeper than any setting is",
		"listen: " + strings.Repeat("{a: ", config.MaxFile/5): "1:137: the file is nested deeper than any setting is",
		"listen:\n" + strings.Repeat("- ", config.MaxFile/3):  "2:65: the file is nested deeper than any setting is",
	} {
		path := write(t, content)
		_, err := config.Load(config.Sources{File: path})
		if err == nil {
			t.Errorf("%.200q was taken", content)
			continue
		}
		if got := err.Error(); !strings.HasPrefix(got, path+":"+want) || strings.Contains(strings.ReplaceAll(got, path, ""), "planted") && !strings.Contains(want, "planted") {
			t.Errorf("%q:\n got %q\nwant %q", content, strings.ReplaceAll(got, path+":", ""), want)
		}
	}
	for _, s := range []config.Sources{
		{Environ: []string{"HOLDFAST_MAX_TASKS=planted"}},
		{Flags: map[string][]string{"cdp-url-override": {"ftp://planted"}}},
		{Environ: []string{"HOLDFAST_LISTEN=planted"}},
	} {
		_, err := config.Load(s)
		if err == nil || strings.Contains(err.Error(), "planted") || !strings.Contains(err.Error(), "HOLDFAST_") && !strings.HasPrefix(err.Error(), "--cdp-url-override: ") {
			t.Error(err)
		}
	}
	var all config.Problems
	_, err := config.Load(config.Sources{File: write(t, "a: 1\nb: 2\n"+strings.Repeat("c: 1\n", 0)+"logging: {level: x, format: y}\n")})
	if !errors.As(err, &all) || len(all) != 4 || !slices.IsSortedFunc(all, func(a, b config.Problem) int { return strings.Compare(a.Where, b.Where) }) {
		t.Error("not all is said at once, in the order of the lines:", err)
	}
	// A group's name that is written in short is told, and what else is wrong as well.
	_, err = config.Load(config.Sources{File: write(t, "drain: {delay: 30s}\nlog:\n  level: info\nlimits:\n  max_tasks: many\n")})
	for _, want := range []string{":1:", "drain.delay must be shorter", ":2:1: there is no key log: is it logging?", ":5:14: limits.max_tasks must be a whole number"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not said: %v", want, err)
		}
	}
}

func TestTaken(t *testing.T) {
	t.Parallel()
	for _, content := range []string{
		"", "\n\n", "# nothing\n", "---\n", "limits:\n", "limits:\n  # max_tasks: 1\nlogging:\n", "{}", "limits: {}",
		`{"listen":"127.0.0.1:1","limits":{"max_tasks":7},"browser":{"args":["--a=1,2"]}}`,
		"\xef\xbb\xbflisten: 127.0.0.1:1\n", "listen: 127.0.0.1:1\r\nlimits:\r\n  max_tasks: 1\r\n",
		"listen: '[::1]:0'\nadmin_listen: localhost:6060\n", "drain: {delay: 0}\n", "browser:\n  args:\n  - --a\n  - \"--b c\"\n", "browser: {args: []}",
	} {
		load(t, config.Sources{File: write(t, content)})
	}
}

// TestPermissions: a file with a credential is taken as ssh takes a key.
func TestPermissions(t *testing.T) {
	t.Parallel()
	secret := write(t, "cdp_url_override: ws://h.test/planted\n")
	plain := write(t, "limits: {max_tasks: 1}\n")
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o600, 0o400} {
		for _, path := range []string{secret, plain} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			_, err := config.Load(config.Sources{File: path})
			if want := path == plain || mode&0o077 == 0; (err == nil) != want {
				t.Errorf("%v %v: %v", path == secret, mode, err)
			} else if err != nil && (strings.Contains(err.Error(), "planted") || !strings.Contains(err.Error(), "chmod 600")) {
				t.Error(err)
			}
		}
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none"), "/dev/null"} {
		if _, err := config.Load(config.Sources{File: path}); err == nil {
			t.Error(path, "was taken")
		}
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	e := load(t, config.Sources{
		File:    write(t, "limits: {idle_timeout: 90m, max_life: 26h30m}\nbrowser: {path: 'C: \"x\" #y', args: [--a=1, '- \"b\": #']}\nstate_dir: 'true'\n"),
		Environ: []string{"HOLDFAST_CDP_URL_OVERRIDE=wss://user:planted@h.test/planted"},
		Flags:   map[string][]string{"listen": {"[::1]:0"}, "allow-host": {"a.test", "b.test"}, "log-level": {"ERROR"}},
	})
	out := e.YAML(nil)
	if strings.Contains(out, "planted") || !strings.Contains(out, `cdp_url_override: "***"`) {
		t.Error(out)
	}
	// But for what is masked it can be read again, and is the same.
	again := load(t, config.Sources{File: write(t, strings.Replace(out, `"***"`, `""`, 1))})
	want := e.Config
	want.CDPURLOverride = again.CDPURLOverride
	if diff := cmp.Diff(want, again.Config, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
		t.Errorf("%s\n%s", diff, out)
	}
	for _, s := range e.Settings() {
		if s.Key == "cdp_url_override" && (s.Value != "***" || s.Where != "HOLDFAST_CDP_URL_OVERRIDE") {
			t.Errorf("%+v", s)
		}
	}
}

func TestReload(t *testing.T) {
	t.Parallel()
	before := load(t, config.Sources{})
	next := load(t, config.Sources{File: write(t, "listen: 127.0.0.1:1\nlimits: {max_tasks: 7}\nlogging: {level: debug, format: json}\ncdp_url_override: ws://h.test/planted\n")})
	now, applied, refused := before.Reload(next)
	if want := []config.Change{{"limits.max_tasks", "5000", "7"}, {"logging.level", "info", "debug"}}; !slices.Equal(applied, want) {
		t.Error(applied)
	}
	if want := []config.Change{{"listen", "127.0.0.1:7070", "127.0.0.1:1"}, {"cdp_url_override", "", "***"}, {"logging.format", "text", "json"}}; !slices.Equal(refused, want) {
		t.Error(refused)
	}
	if now.Limits.MaxTasks != 7 || now.Logging.Level != slog.LevelDebug || now.Listen != before.Listen || now.Logging.Format != "text" || !now.CDPURLOverride.IsZero() {
		t.Errorf("%+v", now.Config)
	}
	if before.Limits.MaxTasks != 5000 {
		t.Error("the running configuration was changed")
	}
	if _, applied, refused := now.Reload(next); len(applied) != 0 || len(refused) != 3 {
		t.Error("again:", applied, refused)
	}
}

func TestDocumentation(t *testing.T) {
	t.Parallel()
	const path = "../../docs/configuration.md"
	if *update {
		if err := os.WriteFile(path, []byte(config.Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != config.Markdown() {
		t.Error("docs/configuration.md is not what internal/config says: go test ./internal/config -run TestDocumentation -update")
	}
}

// TestBounds: every bound of a node can be set, and what is not set is its
// default.
func TestBounds(t *testing.T) {
	t.Parallel()
	ours := reflect.TypeFor[config.Limits]()
	theirs := reflect.TypeFor[messages.Limits]()
	for i := range theirs.NumField() {
		name := theirs.Field(i).Name
		f, ok := ours.FieldByName(name)
		if !ok {
			t.Errorf("there is no setting for %s", name)
			continue
		}
		// One that Bounds forgets is the same whatever is set.
		var l config.Limits
		v := reflect.ValueOf(&l).Elem().FieldByIndex(f.Index)
		if v.CanFloat() {
			v.SetFloat(0.25)
		} else {
			v.SetInt(7)
		}
		b := l.Bounds()
		if got := reflect.ValueOf(b).Field(i); !got.Equal(v) {
			t.Errorf("%s is %v, want %v", name, got, v)
		}
	}
	for _, c := range []struct{ tasks, tenant, want int }{{5000, 0, 3750}, {1, 0, 1}, {2, 0, 2}, {7, 0, 6}, {10, -1, 0}, {10, 3, 3}} {
		if got := (config.Limits{MaxTasks: c.tasks, MaxTenantTasks: c.tenant}).Bounds().MaxTenantTasks; got != c.want {
			t.Errorf("%d of %d tasks: a tenant may have %d, want %d", c.tenant, c.tasks, got, c.want)
		}
	}
	def := load(t, config.Sources{}).Limits.Bounds()
	own := messages.Limits{MaxTenantTasks: 3750} // a program that uses the Go API has none
	if got, want := def.WithDefaults(), own.WithDefaults(); got != want {
		t.Errorf("the defaults are\n%+v, a node's\n%+v", got, want)
	}
}
