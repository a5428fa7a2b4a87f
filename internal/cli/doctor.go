package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"holdfast/client"
	"holdfast/internal/browser"
	"holdfast/internal/checkup"
	"holdfast/internal/config"
	"holdfast/internal/token"
	"holdfast/messages"
	"holdfast/transport"
)

// doctorCmd takes the flags of serve: it looks for what that would need.
type doctorCmd struct {
	Fix    bool   `help:"Install what is missing, where that is possible: Debian's Chromium, as root."`
	CDPURL string `name:"cdp-url" placeholder:"URL" help:"Examine the browser at this address instead of the machine: what a task can do with it."`
	Node   string `placeholder:"URL" group:"The node" help:"The node that is asked whether it answers. Default: the one that serve runs on this machine. (HOLDFAST_NODE)"`
	settings
	printing
}

// finding is the result of one check. A warning is something that works, but
// not well.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, warning, failed or skipped
	Found  string `json:"found"`
	Mend   string `json:"mend,omitempty"`
	// MaxMessageMiB is of the check "message size": the longest that came through.
	MaxMessageMiB int `json:"max_message_mib,omitempty"`
}

const (
	statusOK      = "ok"
	statusWarning = "warning"
	statusFailed  = "failed"
	statusSkipped = "skipped"
)

// launchTime is what a slow machine needs to start a browser.
const launchTime = 30 * time.Second

var errBackend = messages.Errorf(codeCheckFailed, "this browser cannot do everything")

var errDoctor = messages.Errorf(codeCheckFailed, "something is missing on this machine")

// Run implements the command.
func (c *doctorCmd) Run(r *run) error {
	if c.CDPURL != "" {
		return c.examine(r)
	}
	cfg, configuration := c.checkConfiguration(r)
	if c.Fix {
		// What it could not do is found, and said, below.
		_, _ = browser.Ensure(r, cfg.Browser.Path, r.Stderr)
	}
	path, chromium := checkChromium(r, cfg.Browser.Path)
	starts, isolation, sandbox := checkLaunch(r, path, cfg.Browser)
	findings := []finding{configuration, chromium, starts, isolation, sandbox}
	findings = append(findings, checkSystem()...)
	findings = append(findings,
		checkDescriptors(cfg.Limits.Bounds()), checkStateDir(cfg.StateDir), checkToken(cfg), checkNode(r), checkPort(r, cfg.Listen),
	)
	return report(r, findings, errDoctor)
}

// examine is the report about a browser.
func (c *doctorCmd) examine(r *run) error {
	u, err := messages.ParseCDPURL(c.CDPURL)
	if err != nil {
		return err
	}
	var findings []finding
	for _, f := range checkup.Run(r, u) {
		findings = append(findings, finding(f))
	}
	return report(r, findings, errBackend)
}

// report prints what was found; the error is the one given, if anything failed.
func report(r *run, findings []finding, missing error) error {
	failed := false
	for _, f := range findings {
		failed = failed || f.Status == statusFailed
	}
	if r.IsJSON {
		if err := json.NewEncoder(r.Stdout).Encode(map[string]any{"ok": !failed, "checks": findings}); err != nil {
			return err
		}
	} else {
		for _, f := range findings {
			fmt.Fprintf(r.Stdout, "%-8s %-15s  %s\n", f.Status, f.Check, clean(f.Found))
			if f.Mend != "" {
				fmt.Fprintf(r.Stdout, "%-8s %-15s  → %s\n", "", "", clean(f.Mend))
			}
		}
	}
	if failed {
		return missing
	}
	return nil
}

// checkConfiguration reads what serve would. Where that makes no sense the other
// checks go by the defaults.
func (c *doctorCmd) checkConfiguration(r *run) (config.Config, finding) {
	f := finding{Check: "configuration", Status: statusOK, Found: "there is no file; what is not set by variables or flags is as it comes"}
	src := c.sources(r)
	if src.File != "" {
		f.Found = src.File + " is right"
	}
	cfg, err := c.load(r)
	if err == nil {
		return cfg.Config, f
	}
	f.Status, f.Found = statusFailed, err.Error()
	f.Mend = "set it right; docs/configuration.md lists what can be set. What follows goes by the defaults"
	cfg, err = config.Load(config.Sources{})
	if err != nil {
		panic(err) // the table itself is wrong
	}
	cfg.StateDir, _ = r.stateDir() // where there is none, its check says so
	return cfg.Config, f
}

func checkChromium(ctx context.Context, chrome string) (path string, f finding) {
	f = finding{Check: "chromium", Status: statusFailed}
	path, err := browser.Find(chrome)
	if err != nil {
		f.Found = err.Error()
		f.Mend = "install it (Debian, Ubuntu: apt-get install chromium) or name the binary with --chrome or HOLDFAST_CHROME"
		return "", f
	}
	version, err := browser.Version(ctx, path)
	if err != nil {
		f.Found = fmt.Sprintf("%s does not say its version: %v", path, err)
		f.Mend = "run it with --version and see what it says; name another with --chrome or HOLDFAST_CHROME"
		return "", f
	}
	f.Status, f.Found = statusOK, version+" at "+path
	return path, f
}

// checkLaunch starts a browser as a node would and asks it a question over the
// protocol. It also tells what keeps the browser from the node's files, and a page from
// the browser's.
func checkLaunch(ctx context.Context, path string, how config.Browser) (f, isolation, sandbox finding) {
	const none = "there is no browser to start"
	f = finding{Check: "browser starts", Status: statusSkipped, Found: none}
	isolation, sandbox = finding{Check: "isolation", Status: statusSkipped, Found: none}, finding{Check: "sandbox", Status: statusSkipped, Found: none}
	if path == "" {
		return f, isolation, sandbox
	}
	start := time.Now()
	proc, err := launch(ctx, path, how)
	if err != nil {
		f.Status, f.Found = statusFailed, err.Error()
		f.Mend = "run " + path + " --headless=new --remote-debugging-port=0 about:blank and see what it says; flags it needs here go to --chrome-arg"
		return f, isolation, sandbox
	}
	f.Status, f.Found = statusOK, fmt.Sprintf("it starts, answers and ends within %.1f s", time.Since(start).Seconds())
	return f, checkIsolation(proc), checkSandbox(proc)
}

func checkIsolation(proc *browser.Process) finding {
	f := finding{Check: "isolation", Status: statusOK}
	switch how, lacks := proc.Seclusion(); {
	case how == browser.SecludedUser:
		f.Found = "browsers run as users of their own and do not see the state directory"
	case how == browser.SecludedNamespace && lacks == "":
		f.Found = "browsers do not see the state directory"
	case how == browser.SecludedNamespace:
		f.Found = "browsers do not see the state directory, but run as the node's user: " + lacks
	case how == browser.SecludedRules:
		f.Found = "browsers can open no file of the state directory, but run as the node's user: " + lacks
	default:
		f.Status, f.Found = statusWarning, "browsers can read the node's files, its token among them: "+lacks
		f.Mend = mendIsolation
	}
	return f
}

func checkSandbox(proc *browser.Process) finding {
	if proc.HasSandbox() {
		return finding{Check: "sandbox", Status: statusOK, Found: "Chromium's own sandbox is on"}
	}
	return finding{
		Check: "sandbox", Status: statusWarning, Found: "Chromium runs without its own sandbox: a page that breaks out of its renderer has the browser's user",
		Mend: mendSandbox,
	}
}

func launch(ctx context.Context, path string, how config.Browser) (_ *browser.Process, err error) {
	ctx, cancel := context.WithTimeout(ctx, launchTime)
	defer cancel()
	// A place of its own: a node that runs must not meet this browser.
	dir, err := os.MkdirTemp("", "holdfast-doctor-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	manager, err := browser.NewManager(browser.Options{Path: path, StateDir: dir, ExtraArgs: how.Args, Transport: browser.Transport(how.Transport), Env: how.Env, Isolation: browser.Isolation(how.Isolation), Sandbox: browser.Sandbox(how.Sandbox)})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, manager.Close(context.WithoutCancel(ctx))) }()
	proc, err := manager.Launch(ctx, browser.LaunchOptions{IsHeadless: true})
	if err != nil {
		return nil, err
	}
	at := transport.Address{URL: proc.Endpoint()}
	if from, to, ok := proc.Pipe(); ok {
		at.Pipe = transport.NewPipe(from, to)
		defer at.Pipe.Close()
	}
	link, err := transport.Open(ctx, at, transport.DialOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { link.Close(); <-link.Closed() }()
	_, err = link.Do(ctx, "", "Browser.getVersion", nil)
	return proc, err
}

func checkStateDir(dir string) finding {
	f := finding{Check: "state directory", Status: statusFailed, Mend: "make it writable, or name another with HOLDFAST_STATE_DIR"}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		f.Found = err.Error()
		return f
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		f.Found = err.Error()
		return f
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		f.Found = err.Error()
		return f
	}
	warning, err := browser.CheckStateDir(dir)
	if err != nil {
		f.Found, f.Mend = err.Error(), "make it yours alone, or name another with HOLDFAST_STATE_DIR"
		return f
	}
	if warning != "" {
		return finding{Check: f.Check, Status: statusWarning, Found: warning, Mend: "mount it so that the node's user alone can write to it"}
	}
	return finding{Check: f.Check, Status: statusOK, Found: dir + " can be written"}
}

func checkToken(cfg config.Config) finding {
	f := finding{Check: "token file", Status: statusSkipped}
	path := cmp.Or(cfg.TokenFile, filepath.Join(cfg.StateDir, tokenName))
	switch _, err := token.Load(path); {
	case err == nil:
		f.Status, f.Found = statusOK, path+" is readable by its owner alone"
	case errors.Is(err, fs.ErrNotExist) && cfg.TokenFile == "":
		f.Found = "there is none yet; serve makes one"
	default:
		f.Status, f.Found = statusFailed, err.Error()
		f.Mend = "chmod 600 the file, or remove it and let serve make a new one"
	}
	return f
}

// checkNode asks the node that flags, environment or the endpoint file name.
// That none runs is no fault.
func checkNode(r *run) finding {
	f := finding{Check: "node", Status: statusSkipped, Found: "none runs on this machine"}
	dir, err := r.stateDir()
	if err == nil && r.Node == "" && r.Getenv("HOLDFAST_NODE") == "" {
		if _, err = readEndpoint(dir); errors.Is(err, fs.ErrNotExist) {
			return f
		}
	}
	node, err := r.clientThat(nil)
	if err != nil {
		f.Status, f.Found, f.Mend = statusFailed, err.Error(), "start a node with holdfast serve"
		return f
	}
	defer node.Close()
	if err := node.Ready(r); err != nil {
		f.Status, f.Found, f.Mend = statusFailed, err.Error(), "start it again with holdfast serve; its log says why it ended"
		return f
	}
	if _, err := node.Tasks(r, nil); err != nil {
		f.Status, f.Found, f.Mend = statusFailed, "it answers, but: "+err.Error(), "give its token with --token-file or HOLDFAST_TOKEN"
		return f
	}
	f.Status, f.Found = statusOK, node.Node()+" is ready for tasks"
	return f
}

func checkPort(r *run, addr config.Address) finding {
	f := finding{Check: "port", Status: statusFailed, Mend: "end what listens there, or serve another address with --listen"}
	lis, err := listenDraining(addr)
	if err == nil {
		lis.Close()
		return finding{Check: f.Check, Status: statusOK, Found: string(addr) + " is free"}
	}
	f.Found = err.Error()
	// A node of ours there is what is wanted.
	node, cerr := client.New(urlOf(addr), client.Options{})
	if cerr == nil {
		defer node.Close()
		var own *messages.Error
		if err := node.Ready(r); err == nil || errors.As(err, &own) {
			return finding{Check: f.Check, Status: statusOK, Found: "a node has " + string(addr)}
		}
	}
	return f
}
