package browser_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/browser"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// otherPrograms are what else the test binary can be, by the argument that asks for it.
var otherPrograms = map[string]func(args []string) int{}

// TestMain makes several programs of the test binary: the tests, a browser that
// costs nothing (recognised by the flag every browser gets), on Linux a node that
// launches browsers and waits to be killed.
func TestMain(m *testing.M) {
	for _, arg := range os.Args[1:] {
		switch {
		case strings.HasPrefix(arg, "--user-data-dir="):
			os.Exit(fakeBrowser(os.Args[1:]))
		case strings.HasPrefix(arg, "--fake-child="):
			os.Exit(fakeChild(strings.TrimPrefix(arg, "--fake-child=")))
		}
		for prefix, run := range otherPrograms {
			if strings.HasPrefix(arg, prefix) {
				os.Exit(run(os.Args[1:]))
			}
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
		leaveSession(child)
		if _, err := child.StdinPipe(); err != nil || child.Start() != nil {
			return 1
		}
	}
	if slices.Contains(args, "--remote-debugging-pipe") {
		from, to, err := inheritedPipes(args)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		in := bufio.NewReader(from)
		if said, err := in.ReadString(0); err != nil || said != `{"id":1,"method":"Browser.getVersion"}`+"\x00" {
			fmt.Fprintf(os.Stderr, "asked %q: %v\n", said, err)
			return 1
		}
		fmt.Fprint(to, `{"id":1,"result":{"product":"Fake"}}`+"\x00")
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
