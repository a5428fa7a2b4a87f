package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdfast/messages"
)

// patience is for what happens on a machine that tests share.
const patience = 30 * time.Second

type shell struct {
	*testing.T
	state string
	env   []string // more of it
}

func (s *shell) command(args ...string) *exec.Cmd {
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), beHoldfast+"=1", "HOLDFAST_STATE_DIR="+s.state, "HOLDFAST_NODE=", "HOLDFAST_TOKEN=", "HOLDFAST_CDP_URL_OVERRIDE=")
	c.Env = append(c.Env, s.env...)
	return c
}

// run runs one command that has to exit with the code.
func (s *shell) run(code int, args ...string) (out, errs string) {
	s.Helper()
	var o, e bytes.Buffer
	c := s.command(args...)
	c.Stdout, c.Stderr = &o, &e
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.Fatal(err)
	}
	if got := c.ProcessState.ExitCode(); got != code {
		s.Fatalf("%q: exit %d, want %d\nout: %s\nerr: %s", args, got, code, o.String(), e.String())
	}
	return o.String(), e.String()
}

// process is a serve that runs.
type process struct {
	*exec.Cmd
	url   string
	log   *lines
	ended chan struct{}
}

// lines is a log that can be waited on.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	grew chan struct{}
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.grew <- struct{}{}:
	default:
	}
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// await waits until the log says something.
func (l *lines) await(t *testing.T, what string) {
	t.Helper()
	deadline := time.After(patience)
	for !strings.Contains(l.String(), what) {
		select {
		case <-l.grew:
		case <-deadline:
			t.Fatalf("the log never said %q: %s", what, l)
		}
	}
}

func (s *shell) serve(args ...string) *process {
	s.Helper()
	p := &process{
		Cmd: s.command(append([]string{"serve", "--json", "--listen", "127.0.0.1:0"}, args...)...),
		log: &lines{grew: make(chan struct{}, 1)}, ended: make(chan struct{}),
	}
	p.Stderr = p.log
	out, err := p.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := p.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = p.Process.Kill(); <-p.ended })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	go func() {
		defer close(p.ended)
		_, _ = io.Copy(io.Discard, out)
		_ = p.Wait() // its state says the rest
	}()
	var said struct {
		URL string `json:"url"`
	}
	if err != nil || json.Unmarshal(line, &said) != nil {
		s.Fatalf("serve did not start: %s", p.log)
	}
	p.url = said.URL
	return p
}

func (p *process) signal(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := p.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

func (p *process) wait(t *testing.T) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("serve did not end: %s", p.log)
	}
}

// browserPIDs lists the ids of the living browsers of this state directory.
func (s *shell) browserPIDs() (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte("--user-data-dir="+s.state)) {
			pids = append(pids, filepath.Base(filepath.Dir(f)))
		}
	}
	return pids
}

// browsers lists the command lines of the living browsers of this state
// directory.
func (s *shell) browsers() []string {
	var out []string
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte("--user-data-dir="+s.state)) {
			out = append(out, string(bytes.ReplaceAll(b, []byte{0}, []byte{' '})))
		}
	}
	return out
}

func (s *shell) wantNothingLeft() {
	s.Helper()
	if left := s.browsers(); len(left) != 0 {
		s.Errorf("%d browser processes are left: %s", len(left), left[0])
	}
	for _, dir := range []string{"leases", "profiles"} {
		if left, _ := os.ReadDir(filepath.Join(s.state, dir)); len(left) != 0 {
			s.Errorf("%s are left: %v", dir, left)
		}
	}
	if _, err := os.Stat(filepath.Join(s.state, "endpoint.json")); err == nil {
		s.Error("the endpoint file is left")
	}
}

// watch reads a task's events until one of the type.
func (s *shell) watch(id string, until messages.EventType) messages.Event {
	s.Helper()
	c := s.command("watch", id, "--json")
	out, err := c.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	alarm := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
	defer alarm.Stop()
	for dec := json.NewDecoder(out); ; {
		var e messages.Event
		if err := dec.Decode(&e); err != nil {
			s.Fatalf("no %s was seen: %v", until, err)
		}
		// What happened before the watch began is in its first event.
		if e.Type == until || until == messages.EventDialogOpened && e.Snapshot != nil && len(e.Snapshot.PendingDialogs) > 0 {
			return e
		}
	}
}

// TestX21Commands goes through the commands on a real browser.
func TestX21Commands(t *testing.T) {
	t.Parallel()
	s := &shell{T: t, state: t.TempDir()}
	s.run(3, "task", "ls")
	p := s.serve()
	if out, _ := s.run(0, "task", "start", "one"); !strings.HasPrefix(out, "one started") {
		t.Error(out)
	}
	if out, _ := s.run(0, "task", "start", "one"); !strings.HasPrefix(out, "one runs already") {
		t.Error(out)
	}
	s.run(0, "navigate", "one", "data:text/html,<body>")
	s.run(0, "cdp", "one", "Runtime.evaluate", `{"expression":"setTimeout(() => { window.got = prompt('name?', 'x') }, 0)"}`)
	s.watch("one", messages.EventDialogOpened)
	if out, _ := s.run(0, "dialog", "ls"); !strings.Contains(out, "d-1") || !strings.Contains(out, "name?") {
		t.Error(out)
	}
	if out, _ := s.run(0, "snapshot", "one"); !strings.Contains(out, "open dialogs") || !strings.Contains(out, "frames\ndata:text/html,<body>") {
		t.Error(out)
	}
	if _, errs := s.run(1, "navigate", "one", "about:blank"); !strings.HasPrefix(errs, "blocked_by_dialog: ") {
		t.Error(errs)
	}
	s.run(0, "dialog", "accept", "one", "--text", "alice")
	if _, errs := s.run(1, "dialog", "accept", "one"); !strings.HasPrefix(errs, "no_dialog: ") {
		t.Error(errs)
	}
	if out, _ := s.run(0, "cdp", "one", "Runtime.evaluate", `{"expression":"window.got"}`); !strings.Contains(out, `"alice"`) {
		t.Error(out)
	}
	if _, errs := s.run(1, "cdp", "one", "Bogus.method"); !strings.HasPrefix(errs, "cdp_error: ") {
		t.Error(errs)
	}
	s.run(0, "doctor", "--listen", strings.TrimPrefix(p.url, "http://"))
	s.run(0, "task", "stop", "one")
	s.run(0, "task", "stop", "one")
	if out, _ := s.run(0, "task", "show", "one"); !strings.Contains(out, "stopped") { // A16
		t.Error(out)
	}
	if _, errs := s.run(1, "task", "show", "never"); !strings.HasPrefix(errs, "task_not_found: ") {
		t.Error(errs)
	}
	s.run(0, "task", "start", "two")
	s.wantNoSecretInArguments(p)
	p.signal(t, syscall.SIGTERM)
	p.wait(t)
	if code := p.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit %d: %s", code, p.log)
	}
	s.wantNothingLeft()
}

// wantNoSecretInArguments looks at what a process list shows of the node's
// browsers: the token is not there, nor a variable that may hold one.
func (s *shell) wantNoSecretInArguments(p *process) {
	s.Helper()
	tok, err := os.ReadFile(filepath.Join(s.state, "token"))
	if err != nil {
		s.Fatal(err)
	}
	running := s.browsers()
	if len(running) == 0 {
		s.Fatal("no browser runs")
	}
	for _, text := range append(running, p.log.String()) {
		if strings.Contains(text, strings.TrimSpace(string(tok))) {
			s.Error("the token is in", text)
		}
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	t.Run("SIGINT ends serve well, browsers included", func(t *testing.T) {
		t.Parallel()
		s := &shell{T: t, state: t.TempDir()}
		p := s.serve()
		s.run(0, "task", "start", "one")
		p.signal(t, syscall.SIGINT)
		p.wait(t)
		if code := p.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit %d: %s", code, p.log)
		}
		s.wantNothingLeft()
	})
	t.Run("the second signal ends it at once, browsers included", func(t *testing.T) {
		t.Parallel()
		s := &shell{T: t, state: t.TempDir()}
		p := s.serve("--log-level", "debug")
		s.run(0, "task", "start", "one")
		s.hang("one")
		p.signal(t, syscall.SIGTERM)
		p.log.await(t, "msg=stopping")
		if len(s.browsers()) == 0 {
			t.Error("no browser is left: the second signal has nothing to do")
		}
		second := time.Now()
		p.signal(t, syscall.SIGTERM)
		p.wait(t)
		if took := time.Since(second); took > 4*time.Second || p.ProcessState.ExitCode() != 1 {
			t.Errorf("took %v: %v: %s", took, p.ProcessState, p.log)
		}
		s.wantNothingLeft()
	})
	t.Run("what a killed node leaves behind, the next one clears up", func(t *testing.T) {
		t.Parallel()
		s := &shell{T: t, state: t.TempDir()}
		p := s.serve()
		s.run(0, "task", "start", "one")
		p.signal(t, syscall.SIGKILL)
		p.wait(t)
		if len(s.browsers()) == 0 {
			t.Error("no browser was left: the test proves nothing about clearing up")
		}
		p = s.serve()
		p.signal(t, syscall.SIGTERM)
		p.wait(t)
		if code := p.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit %d: %s", code, p.log)
		}
		s.wantNothingLeft()
	})
}

// hang makes a call that does not end by itself, and returns once it has got to
// the page.
func (s *shell) hang(id string) *exec.Cmd {
	s.Helper()
	call := s.command("cdp", id, "Runtime.evaluate", `{"expression":"window.hung = true; new Promise(() => {})","awaitPromise":true}`, "--timeout", "60")
	call.Stderr = &lines{grew: make(chan struct{}, 1)}
	if err := call.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = call.Process.Kill(); _ = call.Wait() })
	for out, limit := "", time.Now().Add(patience); !strings.Contains(out, "true"); {
		if time.Now().After(limit) {
			s.Fatal("the call never got to the page")
		}
		out, _ = s.run(0, "cdp", id, "Runtime.evaluate", `{"expression":"window.hung"}`)
	}
	return call
}
