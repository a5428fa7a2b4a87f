package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"holdfast/chaos"
)

// catches says whether the process has a handler for the signal.
func catches(pid int, sig syscall.Signal) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), "SigCgt:")
	word, _, _ := strings.Cut(strings.TrimSpace(rest), "\n")
	mask, err := strconv.ParseUint(word, 16, 64)
	return err == nil && mask&(1<<(sig-1)) != 0
}

// eventually waits for a condition that nothing announces.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for limit := time.After(patience); !is(); {
		select {
		case <-look.C:
		case <-limit:
			t.Fatal("never: ", what)
		}
	}
}

func TestSIGTERMDuringTheStart(t *testing.T) {
	t.Parallel()
	s := &shell{T: t, state: t.TempDir()}
	for range 5 {
		c := s.command("serve", "--json", "--listen", "127.0.0.1:0")
		var log bytes.Buffer
		c.Stderr = &log
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		alarm := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
		// The handler of SIGINT may come a moment before that of SIGTERM.
		eventually(t, "it hears", func() bool { return catches(c.Process.Pid, syscall.SIGTERM) })
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		alarm.Stop()
		// Go's runtime has handlers before main has: what it does to a signal then
		// is what the kernel would have done.
		status := c.ProcessState.Sys().(syscall.WaitStatus)
		if !c.ProcessState.Success() && !(status.Signaled() && log.Len() == 0) {
			t.Errorf("%v: %s", c.ProcessState, &log)
		}
	}
	s.wantNothingLeft()
}

// TestX22Storm: a storm of SIGHUP leaves a node that answers, with the limits
// that the file has in the end.
func TestX22Storm(t *testing.T) {
	t.Parallel()
	s := &shell{T: t, state: t.TempDir()}
	file := filepath.Join(s.state, "holdfast.yaml")
	write := func(tasks int) {
		t.Helper()
		// In one step, as a ConfigMap changes: a file half written is refused.
		if err := os.WriteFile(file+".new", fmt.Appendf(nil, "limits: {max_tasks: %d}\n", tasks), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write(1)
	p := s.serve("--config", file)
	for i := range 300 {
		write(i%50 + 2)
		p.signal(t, syscall.SIGHUP)
	}
	write(1234)
	p.signal(t, syscall.SIGHUP)
	c := s.caller()
	eventually(t, "the last limit holds", func() bool {
		status, body, err := c.call("GET", p.url+"/v1/pressure", "")
		return err == nil && status == 200 && strings.Contains(body, `1234`)
	})
	if err := os.WriteFile(file, []byte("limits: {max_tasks: planted}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGHUP)
	p.log.await(t, "configuration not reloaded")
	p.log.await(t, ":1:21: limits.max_tasks must be a whole number")
	p.signal(t, syscall.SIGTERM)
	p.wait(t)
	if code := p.ProcessState.ExitCode(); code != 0 || strings.Contains(p.log.String(), "planted") {
		t.Errorf("exit %d: %s", code, p.log)
	}
}

// TestSIGPIPE: a log without a reader ends no node.
func TestSIGPIPE(t *testing.T) {
	t.Parallel()
	_, url := fake(t, chaos.Options{Pages: 1})
	s := &shell{T: t, state: t.TempDir()}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := s.command("serve", "--log-level", "debug", "--listen", "127.0.0.1:0")
	c.Stdout, c.Stderr = write, write
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	read.Close()
	t.Cleanup(func() { _ = c.Process.Kill() })
	eventually(t, "it serves", func() bool {
		_, err := os.Stat(filepath.Join(s.state, "endpoint.json"))
		return err == nil
	})
	s.run(0, "task", "start", "one", "--cdp-url", url)
	s.run(0, "task", "stop", "one")
	if err := c.Process.Signal(syscall.SIGPIPE); err != nil {
		t.Fatal(err)
	}
	s.run(0, "task", "ls")
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	s.wantNothingLeft()
}

// TestHangup: SIGHUP of a terminal that goes ends the node in good order.
func TestHangup(t *testing.T) {
	t.Parallel()
	s := &shell{T: t, state: t.TempDir()}
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	log := &lines{grew: make(chan struct{}, 1)}
	c := s.command("serve", "--listen", "127.0.0.1:0")
	c.Stdin, c.Stdout, c.Stderr = terminal, terminal, log
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	terminal.Close()
	eventually(t, "it serves", func() bool {
		_, err := os.Stat(filepath.Join(s.state, "endpoint.json"))
		return err == nil
	})
	if err := c.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	log.await(t, "configuration reloaded")
	master.Close() // the kernel hangs up
	log.await(t, "msg=stopping")
	if err := c.Wait(); err != nil {
		t.Errorf("%v: %s", err, log)
	}
}

// insider are the processes of a pid namespace, seen from outside.
func insiders(t *testing.T, first int) (all, defunct int) {
	t.Helper()
	namespace, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", first))
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range files {
		if ns, err := os.Readlink(dir + "/ns/pid"); err != nil || ns != namespace {
			continue
		}
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		all++
		if i := bytes.LastIndexByte(stat, ')'); i > 0 && bytes.HasPrefix(stat[i:], []byte(") Z")) {
			defunct++
		}
	}
	return all, defunct
}

// littering is a browser that leaves children behind in sessions of their own, as
// Chromium's crash handlers are, without a parent that waits for them. A fake browser
// speaks the protocol for it.
func (s *shell) littering() (path string) {
	s.Helper()
	b, url := fake(s.T, chaos.Options{Pages: 1})
	script := `#!/bin/sh
trap 'exit 0' TERM
for i in 1 2 3; do (setsid sleep 0.$i &) ; done
echo "DevTools listening on ` + b.URL(strings.TrimPrefix(url, "http://")) + `" >&2
while :; do sleep 1 & wait; done
`
	path = filepath.Join(s.TempDir(), "chromium")
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		s.Fatal(err)
	}
	return path
}

// TestX24: as pid 1 of a container the node reaps what its browsers orphan, and
// hears the second signal, which the kernel would not deliver by default.
func TestX24(t *testing.T) {
	t.Parallel()
	t.Run("of browsers that leave three children behind, a hundred times", func(t *testing.T) {
		t.Parallel()
		s := &shell{T: t, state: t.TempDir()}
		s.asPID1(100, "--chrome", s.littering(), "--browser-transport", "port")
	})
	t.Run("of Chromium, three times", func(t *testing.T) {
		t.Parallel()
		s := &shell{T: t, state: t.TempDir()}
		s.asPID1(3)
	})
}

func (s *shell) asPID1(rounds int, args ...string) {
	s.Helper()
	log := &lines{grew: make(chan struct{}, 1)}
	inner := s.command(append([]string{"serve", "--listen", "127.0.0.1:0", "--drain-delay", "20s"}, args...)...)
	c := exec.Command("unshare", append([]string{"--pid", "--fork", "--mount-proc", "--kill-child"}, inner.Args...)...)
	c.Env, c.Stderr = inner.Env, log
	if err := c.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	eventually(s.T, "it serves", func() bool {
		_, err := os.Stat(filepath.Join(s.state, "endpoint.json"))
		return err == nil
	})
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", c.Process.Pid, c.Process.Pid))
	if err != nil {
		s.Fatal(err)
	}
	first, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		s.Fatal(err)
	}
	most := 0
	for i := range rounds {
		id := fmt.Sprint("t", i)
		s.api("PUT", "/v1/tasks/"+id, 201)
		all, _ := insiders(s.T, first)
		most = max(most, all)
		s.api("DELETE", "/v1/tasks/"+id, 204)
	}
	if most < 4 {
		s.Errorf("there were %d processes at most: no browser ran, or it left nothing behind", most)
	}
	eventually(s.T, "only the node is left, and nothing defunct", func() bool {
		all, defunct := insiders(s.T, first)
		return all == 1 && defunct == 0
	})
	s.api("PUT", "/v1/tasks/last", 201)
	for _, word := range []string{"msg=stopping", "cut short"} {
		if err := syscall.Kill(first, syscall.SIGTERM); err != nil {
			s.Fatal(err)
		}
		log.await(s.T, word)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 1 {
		s.Errorf("exit %d: %s", code, log)
	}
	s.wantNothingLeft()
}

// api makes one call to the node that left its address here.
func (s *shell) api(method, path string, want int) {
	s.Helper()
	var endpoint struct {
		URL string `json:"url"`
	}
	b, err := os.ReadFile(filepath.Join(s.state, "endpoint.json"))
	if err != nil {
		s.Fatal(err)
	}
	if err := json.Unmarshal(b, &endpoint); err != nil {
		s.Fatal(err)
	}
	if status, body, err := s.caller().call(method, endpoint.URL+path, "{}"); status != want {
		s.Fatal(method, path, status, body, err)
	}
}
