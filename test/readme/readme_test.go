package readme

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const root = "../.."

// readme is the text of the page and what is between its fences.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks are the fenced blocks of a language, in their order.
func blocks(t *testing.T, language string, want int) []string {
	t.Helper()
	var out []string
	rest := readme(t)
	for {
		_, after, found := strings.Cut(rest, "```"+language+"\n")
		if !found {
			break
		}
		block, after, _ := strings.Cut(after, "```")
		out, rest = append(out, block), after
	}
	if len(out) != want {
		t.Fatalf("%d blocks of %s, want %d", len(out), language, want)
	}
	return out
}

// TestREADMEIsShort holds the page to a length that is read to its end.
func TestREADMEIsShort(t *testing.T) {
	t.Parallel()
	if n := strings.Count(readme(t), "\n"); n > 150 {
		t.Errorf("%d lines", n)
	}
}

// reader is a person at a terminal who has a home of their own.
type reader struct {
	*testing.T
	ctx  context.Context
	dir  string
	env  []string
	home string
	url  string
}

func newReader(t *testing.T) *reader {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	t.Cleanup(cancel)
	r := &reader{T: t, ctx: ctx, dir: t.TempDir(), home: t.TempDir()}
	caches, err := exec.CommandContext(ctx, "go", "env", "GOCACHE", "GOMODCACHE", "GOFLAGS").Output()
	if err != nil {
		t.Fatal(err)
	}
	values := strings.Split(string(caches), "\n")
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "HOLDFAST_") && name != "HOME" && name != "XDG_STATE_HOME" {
			r.env = append(r.env, v)
		}
	}
	// The port alone is another one than on the page, which another process may have.
	r.env = append(r.env, "HOME="+r.home, "GOCACHE="+values[0], "GOMODCACHE="+values[1], "GOFLAGS="+values[2], "HOLDFAST_LISTEN=127.0.0.1:0")
	return r
}

// command is a shell that runs a line in a directory.
func (r *reader) command(dir, line string) *exec.Cmd {
	c := exec.CommandContext(r.ctx, "sh", "-c", line)
	c.Dir, c.Env = dir, r.env
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = 30 * time.Second
	return c
}

// run runs a line and returns what it prints.
func (r *reader) run(dir, line string, exit int) (stdout, stderr string) {
	r.Helper()
	var out, failed bytes.Buffer
	c := r.command(dir, line)
	c.Stdout, c.Stderr = &out, &failed
	err := c.Run()
	if c.ProcessState == nil || c.ProcessState.ExitCode() != exit {
		r.Fatalf("%s\n%v, want exit code %d\n%s%s", line, err, exit, out.String(), failed.String())
	}
	return out.String(), failed.String()
}

// wants is run for a line that prints all of these.
func (r *reader) wants(dir, line string, exit int, texts ...string) string {
	r.Helper()
	stdout, stderr := r.run(dir, line, exit)
	for _, text := range texts {
		if !strings.Contains(stdout+stderr, text) {
			r.Fatalf("%s\nhas not printed %q:\n%s%s", line, text, stdout, stderr)
		}
	}
	return stdout
}

// serve starts the node, and ends it with the test.
func (r *reader) serve(line string) {
	r.Helper()
	var log bytes.Buffer
	node := r.command(r.dir, "exec "+line)
	node.Stdout, node.Stderr = &log, &log
	if err := node.Start(); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		_ = node.Process.Signal(syscall.SIGTERM)
		if err := node.Wait(); err != nil {
			r.Errorf("the node ended with %v\n%s", err, log.String())
		}
	})
	for r.ctx.Err() == nil {
		text, err := os.ReadFile(filepath.Join(r.home, ".local/state/holdfast/endpoint.json"))
		var endpoint struct {
			URL string `json:"url"`
		}
		if err == nil && json.Unmarshal(text, &endpoint) == nil && endpoint.URL != "" {
			r.url = endpoint.URL
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.Fatalf("the node has not started:\n%s", log.String())
}

// program writes a program as it stands on the page, but for the port.
func (r *reader) program(name, text string) string {
	r.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "http://127.0.0.1:7070", r.url)), 0o600); err != nil {
		r.Fatal(err)
	}
	return path
}

// compiled checks a program of TypeScript by the strict rules, and returns its JavaScript. The
// compiler is a pinned package of npm, which .ci/readme installs.
func (r *reader) compiled(program string) string {
	r.Helper()
	packages, err := filepath.Abs("typescript/node_modules")
	if err != nil {
		r.Fatal(err)
	}
	compiler := filepath.Join(packages, "typescript", "bin", "tsc")
	if _, err := os.Stat(compiler); err != nil {
		r.Fatalf("run .ci/readme, which installs the compiler of TypeScript: %v", err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
		r.Fatal(err)
	}
	r.run(r.dir, "node "+compiler+" --strict --target es2022 --module nodenext --types node --typeRoots "+filepath.Join(packages, "@types")+" "+program, 0)
	return strings.TrimSuffix(program, ".ts") + ".js"
}

// TestREADMERuns runs the commands and the programs of the page in their order.
func TestREADMERuns(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	shell := blocks(t, "sh", 4) // the demo has tests of its own
	build, serve, _ := strings.Cut(strings.TrimSpace(shell[1]), "\n")
	r.run(root, strings.Replace(build, "-o holdfast", "-o "+filepath.Join(r.dir, "holdfast"), 1), 0)
	r.serve(serve)

	lines := strings.Split(strings.TrimSpace(shell[2]), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d commands, want 5", len(lines))
	}
	r.wants(r.dir, lines[0], 0, "shop started")
	r.wants(r.dir, lines[1], 1, "blocked_by_dialog", "Your name?")
	r.wants(r.dir, lines[2], 0, "d-1", "Your name?")
	r.wants(r.dir, lines[3], 0, "d-1", "agent")
	got := r.wants(r.dir, lines[4], 0, `"action":"accept"`)
	if diff := shape(t, got, blocks(t, "json", 1)[0]); diff != "" {
		t.Error(diff)
	}

	token := strings.TrimSpace(shell[3])
	python := r.program("snippet.py", blocks(t, "python", 1)[0])
	r.wants(r.dir, token+"\npython3 "+python, 0, "blocked_by_dialog Buy?\nagent\n")
	script := r.compiled(r.program("snippet.ts", blocks(t, "ts", 1)[0]))
	r.wants(r.dir, token+"\nnode "+script, 0, "blocked_by_dialog Buy?\nagent\n")
	program := r.program("main.go", blocks(t, "go", 1)[0])
	r.wants(root, "go run "+program, 0, "blocked_by_dialog\nBuy? agent <nil>\n")
	r.examples(token)
}

// examples runs the programs of examples/ on the reader's node: all print the same, but for how a
// language shows a list.
func (r *reader) examples(token string) {
	r.Helper()
	line := token + "\nexport HOLDFAST_NODE=" + r.url + "\n"
	const want = "prompt Coupon?\nSAVE10 for Ada\nscreenshot "
	at := func(path string) string {
		full, err := filepath.Abs(filepath.Join(root, "examples", path))
		if err != nil {
			r.Fatal(err)
		}
		return full
	}
	r.wants(r.dir, line+"python3 "+at("python/shop.py"), 0, want+"True\n['rule', 'agent']\n")
	text, err := os.ReadFile(at("typescript/shop.ts"))
	if err != nil {
		r.Fatal(err)
	}
	r.wants(r.dir, line+"node "+r.compiled(r.program("shop.ts", string(text))), 0, want+"true\n[ 'rule', 'agent' ]\n")
	r.wants(r.dir, line+"cd "+at("..")+" && go run ./examples/go", 0, want+"true\n[rule agent]\n")
}

// shape says where two JSON texts have not the same fields.
func shape(t *testing.T, got, page string) string {
	t.Helper()
	var g, p any
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(page), &p); err != nil {
		t.Fatalf("the snapshot on the page: %v", err)
	}
	if a, b := fields("", g), fields("", p); !slices.Equal(a, b) {
		return fmt.Sprintf("the snapshot has the fields\n%v\nand on the page\n%v", a, b)
	}
	return ""
}

// fields are the paths of all fields, sorted.
func fields(path string, v any) []string {
	var out []string
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			out = append(out, path+"."+k)
			out = append(out, fields(path+"."+k, x)...)
		}
	case []any:
		for _, x := range v {
			out = append(out, fields(path+"[]", x)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
