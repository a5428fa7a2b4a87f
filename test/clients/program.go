package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Program is the program of one client and the steps it has.
type Program struct {
	Client string
	file   string // in the folder programs; "" for one in Go
	lacks  []string
	// hasHeaders has it send headers to a WebSocket; hasPath has it keep the path of the address
	// for discovery, and send headers to it as well.
	hasHeaders, hasPath bool
}

// want is what each step returns, directly and through a task.
var want = []struct{ step, value string }{
	{"connect_http", `"connected"`},
	{"connect_ws", `"connected"`},
	{"new_page", `"about:blank"`},
	{"navigate", `"200 client"`},
	{"evaluate", `42`},
	{"input", `"holdfast true"`},
	{"frame", `"frame word"`},
	{"popup", `"popup"`},
	{"download", `1024`},
	{"intercept", `"intercepted, from the site"`},
	{"screenshot", `"PNG"`},
	{"console", `"said by the page"`},
	{"dialog", `"ann"`},
	{"two_clients", `"55 110"`},
	{"close", `false`},
}

// Programs are the clients. What one lacks is no feature of it.
var Programs = []Program{
	{Client: "playwright", file: "playwright.mjs", hasHeaders: true, hasPath: true},
	{Client: "puppeteer", file: "puppeteer.mjs", hasHeaders: true},
	{Client: "chromedp"},
	{Client: "rod"},
	{Client: "agent-browser", file: "agentbrowser.mjs"},
	{Client: "chrome-devtools-mcp", file: "devtoolsmcp.mjs", hasHeaders: true, lacks: []string{"download", "intercept"}},
	{Client: "playwright-mcp", file: "playwrightmcp.mjs", hasHeaders: true, hasPath: true, lacks: []string{"download"}},
}

// variable names the client that a process of this binary is to be.
const variable = "HOLDFAST_TEST_CLIENT"

// RunNamed runs the program of the client in Go that the environment names, and ends the
// process; where it names none it returns. The place is the last argument.
func RunNamed() {
	client := os.Getenv(variable)
	if client == "" {
		return
	}
	var p Place
	if err := json.Unmarshal([]byte(os.Args[len(os.Args)-1]), &p); err != nil {
		fmt.Fprintln(os.Stderr, "place:", err)
		os.Exit(2)
	}
	bound := make(calls, 1)
	switch {
	case client == "chromedp" && p.Steps > 0:
		runDrops(&chromedpDriver{place: p, bound: bound}, p.Steps, bound)
	case client == "rod" && p.Steps > 0:
		runDrops(&rodDriver{place: p, bound: bound}, p.Steps, bound)
	case client == "chromedp":
		runSteps((&chromedpClient{place: p}).steps())
	case client == "rod":
		runSteps((&rodClient{place: p}).steps())
	default:
		fmt.Fprintln(os.Stderr, "no program of", client)
		os.Exit(2)
	}
	os.Exit(0)
}

// command is the process of the program at a place.
func (p Program) command(ctx context.Context, place Place) (*exec.Cmd, error) {
	text, err := json.Marshal(place)
	if err != nil {
		return nil, err
	}
	var c *exec.Cmd
	if p.file == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		c = exec.CommandContext(ctx, self, string(text))
	} else {
		c = exec.CommandContext(ctx, "node", filepath.Join("programs", p.file), string(text))
	}
	c.Env = append(os.Environ(), variable+"="+p.Client, "HOME="+place.Dir, "NO_COLOR=1")
	// A program's own children end with it.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	return c, nil
}

// lines runs the program at a place and returns what it prints. The error is of a program that
// did not come to its end.
func (p Program) lines(ctx context.Context, place Place) (list []Line, err error) {
	c, err := p.command(ctx, place)
	if err != nil {
		return nil, err
	}
	defer endDaemons(place.Dir)
	var out, failed bytes.Buffer
	c.Stdout, c.Stderr = &out, &failed
	if err = c.Run(); err != nil {
		err = fmt.Errorf("the program ended with %w\n%s", err, failed.String())
	}
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		var l Line
		if json.Unmarshal(lines.Bytes(), &l) != nil || l.Step == "" {
			l = Line{Step: "?", Error: "the program printed " + lines.Text()}
		}
		list = append(list, l)
	}
	return list, err
}

// Run runs the program at a place, and returns what is wrong with its steps: a step that
// failed, returned something else, is missing, or has no business there.
func (p Program) Run(ctx context.Context, place Place) (wrong []string) {
	list, err := p.lines(ctx, place)
	if err != nil {
		wrong = append(wrong, err.Error())
	}
	got := map[string]Line{}
	for _, l := range list {
		got[l.Step] = l
	}
	for _, w := range want {
		l, found := got[w.step]
		delete(got, w.step)
		switch {
		case slices.Contains(p.lacks, w.step):
			if found {
				wrong = append(wrong, w.step+": is there, and the table says that the client lacks it")
			}
		case !found:
			wrong = append(wrong, w.step+": the program printed nothing of it")
		case l.Error != "":
			wrong = append(wrong, w.step+": "+l.Error)
		case string(l.Value) != w.value:
			wrong = append(wrong, fmt.Sprintf("%s: %s, want %s", w.step, l.Value, w.value))
		}
	}
	for name, l := range got {
		wrong = append(wrong, name+": a step that is not in the table. "+l.Error)
	}
	return wrong
}

// endDaemons kills what agent-browser has left in a home folder: the daemon of each session is
// in a process group of its own. A program that came to its end has left none.
func endDaemons(home string) {
	files, _ := filepath.Glob(filepath.Join(home, ".agent-browser", "*.pid"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
