package browser_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"holdfast/internal/browser"
)

func init() { otherPrograms["--node="] = node }

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
		p, err := m.Launch(context.Background(), browser.LaunchOptions{IsHeadless: true})
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
