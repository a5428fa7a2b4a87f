package browser_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/browser"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// TestMain makes three programs of the test binary: the tests, a browser that
// costs nothing (recognised by the flag every browser gets), and a node that
// launches browsers and waits to be killed.
func TestMain(m *testing.M) {
	for _, arg := range os.Args[1:] {
		switch {
		case strings.HasPrefix(arg, "--user-data-dir="):
			os.Exit(fakeBrowser(os.Args[1:]))
		case strings.HasPrefix(arg, "--fake-child="):
			os.Exit(fakeChild(strings.TrimPrefix(arg, "--fake-child=")))
		case strings.HasPrefix(arg, "--node="):
			os.Exit(node(os.Args[1:]))
		}
	}
	// Under the race detector every program sleeps a second before it exits;
	// the fake browsers have no time for that.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	browser.LetThrough("GORACE")
	goleak.VerifyTestMain(m)
}

// has returns the value of the last --name=value in args.
func has(args []string, name string) (value string, ok bool) {
	for _, arg := range args {
		if v, found := strings.CutPrefix(arg, "--"+name+"="); found {
			value, ok = v, true
		}
	}
	return value, ok
}

// fakeBrowser says where it listens and lives until it is asked to end.
func fakeBrowser(args []string) int {
	profile, _ := has(args, "user-data-dir")
	mode, _ := has(args, "fake")
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	if err := os.WriteFile(profile+"/Preferences", []byte("{}"), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	switch mode {
	case "dies":
		fmt.Fprintln(os.Stderr, "cannot open display, password=hunter22222")
		return 3
	case "silent":
		<-term
		return 0
	case "endless line":
		fmt.Fprint(os.Stderr, strings.Repeat("x", 1<<20), "\n")
	case "group":
		// A member of the group that does not care for SIGTERM.
		child := exec.Command(os.Args[0], "--fake-child=stubborn", "--user-data-of="+profile)
		said, err := child.StdoutPipe()
		if err != nil || child.Start() != nil {
			return 1
		}
		// A process that has only just begun shows no arguments yet.
		if _, err := said.Read(make([]byte, 1)); err != nil {
			return 1
		}
	case "orphans":
		// Like Chromium's crash handlers: in a session of its own, it ends once the browser
		// has ended, and no parent waits for it.
		child := exec.Command(os.Args[0], "--fake-child=orphan")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if _, err := child.StdinPipe(); err != nil || child.Start() != nil {
			return 1
		}
	}
	if slices.Contains(args, "--remote-debugging-pipe") {
		in := bufio.NewReader(os.NewFile(3, "in"))
		if said, err := in.ReadString(0); err != nil || said != `{"id":1,"method":"Browser.getVersion"}`+"\x00" {
			fmt.Fprintf(os.Stderr, "asked %q: %v\n", said, err)
			return 1
		}
		fmt.Fprint(os.NewFile(4, "out"), `{"id":1,"result":{"product":"Fake"}}`+"\x00")
	} else {
		fmt.Fprintln(os.Stderr, "\nDevTools listening on ws://127.0.0.1:9/devtools/browser/5e595a9b-fa12-449a-897a-58d8f910126d")
	}
	if mode == "stubborn" {
		select {}
	}
	<-term
	return 0
}

func fakeChild(kind string) int {
	if kind == "orphan" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	// Not ignored: with nothing to listen to, the runtime would call the wait below
	// a deadlock and end.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM)
	fmt.Println("ready")
	select {}
}

// node launches browsers, says so on its standard output and does nothing
// more.
func node(args []string) int {
	dir, _ := has(args, "node")
	count, _ := has(args, "browsers")
	binary, _ := has(args, "binary")
	n, _ := strconv.Atoi(count)
	transport, _ := has(args, "transport")
	m, err := browser.NewManager(browser.Options{Path: binary, StateDir: dir, Transport: browser.Transport(transport)})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if orphans, _ := has(args, "orphans"); orphans != "" {
		return subreaper(func(mode string) (*browser.Manager, error) {
			return browser.NewManager(browser.Options{Path: binary, StateDir: dir, ExtraArgs: []string{"--fake=" + mode}})
		}, n)
	}
	fmt.Println("launching")
	for range n {
		p, err := m.Launch(context.Background(), browser.LaunchOptions{Headless: true})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		how, _ := p.Seclusion()
		fmt.Println("launched", p.PID())
		fmt.Println("isolated by", how)
	}
	fmt.Println("ready")
	select {}
}

// startNode runs the test binary as a node and returns once it has said
// until. The node is killed at the latest with the test.
func startNode(t *testing.T, until string, args ...string) (cmd *exec.Cmd, pids []int) {
	t.Helper()
	cmd = exec.Command(os.Args[0], args...)
	return cmd, runNode(t, cmd, until)
}

// runNode starts the command of a node and returns once it has said until.
func runNode(t *testing.T, cmd *exec.Cmd, until string) (pids []int) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill9(cmd) })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if pid, found := strings.CutPrefix(lines.Text(), "launched "); found {
			n, err := strconv.Atoi(pid)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, n)
		}
		if lines.Text() == until {
			return pids
		}
	}
	t.Fatalf("the node ended before it said %q", until)
	return nil
}

func kill9(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}
