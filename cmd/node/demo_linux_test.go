package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// demonstrate runs the demo of a cluster, with a directory of its own for what it makes.
func demonstrate(t *testing.T) (p *process, dir string) {
	t.Helper()
	dir = t.TempDir()
	s := &shell{T: t, state: t.TempDir(), env: []string{"TMPDIR=" + dir}}
	p = &process{Cmd: s.command("cluster", "demo"), log: &lines{grew: make(chan struct{}, 1)}, ended: make(chan struct{})}
	p.Stdout, p.Stderr = p.log, p.log
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.Wait() // its state says the rest
	}()
	t.Cleanup(func() { _ = syscall.Kill(-p.Process.Pid, syscall.SIGKILL); <-p.ended })
	return p, dir
}

// wantNothingOf a directory to be left: no file, and no process that has to do with it.
func wantNothingOf(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v are left, %v", left, err)
	}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(dir)) {
			t.Errorf("a process is left: %s", bytes.ReplaceAll(b, []byte{0}, []byte{' '}))
		}
	}
}

// TestTheDemoOfAClusterIsTold on a real browser, and leaves nothing behind. Nor does one that is
// ended while it is at work.
func TestTheDemoOfAClusterIsTold(t *testing.T) {
	t.Parallel()
	oneTrio.Lock()
	t.Cleanup(oneTrio.Unlock)
	p, dir := demonstrate(t)
	p.log.await(t, "Done in ")
	p.wait(t)
	said := p.log.String()
	for _, want := range []string{
		"a held, b held, c held", "node a supervises task demo, which is active", "stands by", `"Your PIN, please?"`, "signal: killed",
		`d-1 was accepted with "4242"`, "payment got 4242", "its page is ok", "[own process]", "a gone, b held, c held",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing from\n%s", want, said)
		}
	}
	if code := p.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it has exited with %d: %s", code, said)
	}
	wantNothingOf(t, dir)

	p, dir = demonstrate(t)
	p.log.await(t, "node c  process")
	p.signal(t, syscall.SIGTERM)
	p.wait(t)
	if code := p.ProcessState.ExitCode(); code != 1 || !strings.Contains(p.log.String(), "the demo was ended: received SIGTERM") {
		t.Errorf("it has exited with %d: %s", code, p.log)
	}
	wantNothingOf(t, dir)
}
