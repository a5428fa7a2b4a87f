package check_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// node is the product's binary.
var node string

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // the chart is loaded with a line for every link in it
	dir, err := os.MkdirTemp("", "holdfast-check-")
	if err == nil {
		node = filepath.Join(dir, "holdfast")
		build := exec.Command("go", "build", "-o", node, "./cmd/node")
		build.Dir, build.Stderr = repo(), os.Stderr
		err = build.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the product does not build:", err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// holdfast runs a command of the product.
func holdfast(env map[string]string, args ...string) (out, errs string, err error) {
	cmd := exec.Command(node, args...)
	cmd.Env = []string{"HOME=/nonexistent"}
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// settings are what a node goes by.
type settings map[string]any

func (s settings) text(key string) string { v, _ := s[key].(string); return v }

func (s settings) texts(key string) []string {
	list, _ := s[key].([]any)
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

func (s settings) duration(t *testing.T, key string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(s.text(key))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// effective is the configuration that a node would have of a command line, the
// file it names, and variables. One that would not start, or warn, fails.
func effective(t *testing.T, args []string, file string, env map[string]string) settings {
	t.Helper()
	if len(args) == 0 || args[0] != "serve" {
		t.Fatalf("the command is %q", args)
	}
	args = append([]string{"config", "print", "--json"}, args[1:]...)
	if i := slices.Index(args, "--config"); i > 0 {
		args[i+1] = filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(args[i+1], []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, errs, err := holdfast(env, args...)
	if err != nil || errs != "" {
		t.Fatalf("the node would not start, or warn: %v\n%s\n%s", err, errs, file)
	}
	var said struct {
		Settings []struct {
			Key   string `json:"key"`
			Value any    `json:"value"`
		} `json:"settings"`
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatal(err)
	}
	s := settings{}
	for _, one := range said.Settings {
		s[one.Key] = one.Value
	}
	return s
}

// checkSettings starts no node, but reads its configuration as one would.
func checkSettings(t *testing.T, o *objects, namespace string) {
	t.Helper()
	pod := o.set.Spec.Template.Spec
	c := pod.Containers[0]
	env := map[string]string{}
	known := map[string]string{"POD_IP": "fd00::7", "POD_NAME": "holdfast-0"}
	for _, e := range c.Env {
		if e.ValueFrom != nil {
			if known[e.Name] == "" {
				t.Errorf("%s is not expected", e.Name)
			}
			continue
		}
		env[e.Name] = os.Expand(strings.NewReplacer("$(", "${", ")", "}").Replace(e.Value), func(name string) string {
			if known[name] == "" {
				t.Errorf("%s is expanded and not set", name)
			}
			return known[name]
		})
	}
	e := effective(t, c.Args, o.maps[0].Data["config.yaml"], env)
	for _, name := range []string{"fd00::7", "holdfast", "holdfast.NS.svc", "holdfast-0.holdfast-headless.NS.svc.cluster.local"} {
		if !slices.Contains(e.texts("allow_hosts"), strings.Replace(name, "NS", namespace, 1)) {
			t.Errorf("nobody may ask for %s: %v", name, e.texts("allow_hosts"))
		}
	}
	for port, addr := range map[string]string{"http": e.text("listen"), "metrics": e.text("metrics_listen")} {
		want := false
		for _, p := range c.Ports {
			want = want || p.Name == port && strings.HasSuffix(addr, ":"+strconv.Itoa(int(p.ContainerPort)))
		}
		if !want {
			t.Errorf("the port %s is not %s", port, addr)
		}
	}
	mounted := false
	for _, m := range c.VolumeMounts {
		mounted = mounted || strings.HasPrefix(e.text("token_file"), m.MountPath+"/")
	}
	if !mounted {
		t.Errorf("nothing is mounted at %s", e.text("token_file"))
	}
	// preStop, the drain and a reserve have to fit.
	pre, err := time.ParseDuration(c.Lifecycle.PreStop.Exec.Command[1] + "s")
	if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; err != nil || grace < pre+e.duration(t, "drain.timeout")+5*time.Second {
		t.Errorf("%v of grace for %v and a drain of %v: %v", grace, pre, e.text("drain.timeout"), err)
	}
}

// What manifests call by name is there. docs/configuration.md is made of the
// node's own table.
func TestNamesExist(t *testing.T) {
	t.Parallel()
	variable, setting := regexp.MustCompile(`HOLDFAST_[A-Z_]*[A-Z]`), regexp.MustCompile(`\b(?:limits|drain|browser|logging)\.[a-z]+(?:_[a-z]+)*\b`)
	book := read(t, "docs", "configuration.md")
	variables, keys := variable.FindAllString(book, -1), setting.FindAllString(book, -1)
	if len(variables) < 20 || len(keys) < 10 {
		t.Fatal("docs/configuration.md is not understood")
	}
	err := filepath.WalkDir(repo("deploy"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/check/") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, v := range variable.FindAllString(string(b), -1) {
			if !slices.Contains(variables, v) {
				t.Errorf("%s: there is no variable %s", path, v)
			}
		}
		for _, k := range setting.FindAllString(string(b), -1) {
			if !slices.Contains(keys, k) {
				t.Errorf("%s: there is no setting %s", path, k)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Every command that the operator is told to run is one.
func TestCommandsExist(t *testing.T) {
	t.Parallel()
	word := regexp.MustCompile(`^[a-z]+$`)
	found := 0
	for _, file := range [][]string{
		{"docs", "runbook.md"},
		{"deploy", "README.md"},
		{"deploy", "systemd", "holdfast.service"},
		{"deploy", "compose", "compose.yaml"},
		{"deploy", "helm", "holdfast", "templates", "NOTES.txt"},
	} {
		for _, m := range regexp.MustCompile("(?m)(?:^|-- |holdfast |`)holdfast ((?:[a-z]+ ?)+)((?: *--[a-z-]+)*)").FindAllStringSubmatch(read(t, file...), -1) {
			var args []string
			for _, w := range strings.Fields(m[1]) {
				if word.MatchString(w) {
					args = append(args, w)
				}
			}
			args = append(args, "--help")
			out, errs, err := holdfast(nil, args...)
			if err != nil || !strings.HasPrefix(out, "Usage: holdfast") {
				t.Errorf("%s: holdfast %s: %s", file[len(file)-1], m[1], errs)
			}
			for _, flag := range strings.Fields(m[2]) {
				if !strings.Contains(out, flag) {
					t.Errorf("%s: holdfast %s has no flag %s", file[len(file)-1], m[1], flag)
				}
			}
			found++
		}
	}
	if found < 30 {
		t.Errorf("only %d commands were found", found)
	}
}

// What the image's linker sets is there to be set: it says nothing otherwise.
func TestTheImageSetsItsVersion(t *testing.T) {
	t.Parallel()
	set := regexp.MustCompile(`-X (holdfast/[a-z/]+)\.(\w+)=`).FindAllStringSubmatch(read(t, "deploy", "docker", "Dockerfile"), -1)
	if len(set) != 2 {
		t.Fatal(set)
	}
	for _, m := range set {
		files, err := filepath.Glob(repo(strings.TrimPrefix(m[1], "holdfast/"), "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			found = found || regexp.MustCompile(`(?m)^var .*\b`+m[2]+`\b.* string$`).Match(b)
		}
		if !found {
			t.Errorf("%s has no variable %s", m[1], m[2])
		}
	}
}
