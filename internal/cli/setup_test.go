package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"holdfast/internal/api/apitest"
	"holdfast/internal/cli"
	"holdfast/internal/version"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machine is a home directory, an environment and a node that can be served.
type machine struct {
	*testing.T
	env     map[string]string
	state   string
	node    *apitest.Node
	stdin   string
	config  cli.NodeConfig // what the last serve asked for
	started func(*cli.RunningNode) error
	stopErr error
	// What the process is told, and tells its service manager.
	reload, hurry chan struct{}
	notify        func(string) error
	watchdog      func() (time.Duration, error)

	mu      sync.Mutex
	stopped int
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	return &machine{T: t, env: map[string]string{"HOLDFAST_STATE_DIR": dir}, state: dir, node: &apitest.Node{}, reload: make(chan struct{}), hurry: make(chan struct{})}
}

func (m *machine) program(out, errs io.Writer) *cli.Program {
	return &cli.Program{
		Stdin: strings.NewReader(m.stdin), Stdout: out, Stderr: errs,
		Getenv: func(k string) string { return m.env[k] },
		Environ: func() []string {
			var all []string
			for k, v := range m.env {
				all = append(all, k+"="+v)
			}
			return all
		},
		BecomeDaemon: func() <-chan struct{} { return m.reload }, Hurry: m.hurry, Notify: m.notify, Watchdog: m.watchdog,
		Version: version.Info{Version: "v1.2.3", Revision: "abc", Go: "go1"},
		Start: func(_ context.Context, cfg cli.NodeConfig) (*cli.RunningNode, error) {
			m.config = cfg
			n := &cli.RunningNode{Node: m.node, Stop: func(ctx context.Context) error {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.stopped++
				return errors.Join(ctx.Err(), m.stopErr)
			}}
			if m.started != nil {
				return n, m.started(n)
			}
			return n, nil
		},
	}
}

// run runs one command line.
func (m *machine) run(args ...string) (code int, out, errs string) {
	m.Helper()
	var o, e bytes.Buffer
	code = m.program(&o, &e).Run(m.Context(), args)
	return code, o.String(), e.String()
}

// want runs one command line that has to end with the code.
func (m *machine) want(code int, args ...string) (out, errs string) {
	m.Helper()
	got, out, errs := m.run(args...)
	if got != code {
		m.Fatalf("%q: exit %d, want %d\nout: %s\nerr: %s", args, got, code, out, errs)
	}
	return out, errs
}

// buffer is a log that may still be written while it is read: what a node does
// that was cut short, for one.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is what was written.
func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// served is a serve that runs.
type served struct {
	url, tokenFile string
	log            *buffer
	stop           func() int // asks for the end and waits for it
	code           chan int
}

// ended returns what will be the exit code of a node that ends by itself.
func (s *served) ended() <-chan int {
	code := make(chan int, 1)
	go func() {
		got := <-s.code
		s.code <- got
		code <- got
	}()
	return code
}

// serve runs a node on a free port until the test ends.
func (m *machine) serve(args ...string) *served {
	m.Helper()
	return m.serveAt("debug", args...)
}

// serveAt is serve at a log level; "" is the configuration's.
func (m *machine) serveAt(level string, args ...string) *served {
	m.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, announce := io.Pipe()
	s := &served{log: &buffer{}, code: make(chan int, 1)}
	if level != "" {
		args = append([]string{"--log-level", level}, args...)
	}
	p := m.program(announce, s.log)
	go func() {
		defer announce.Close()
		s.code <- p.Run(ctx, append([]string{"serve", "--json", "--listen", "127.0.0.1:0"}, args...))
	}()
	s.stop = sync.OnceValue(func() int { cancel(); return <-s.code })
	m.Cleanup(func() { s.stop() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		m.Fatalf("serve ended with %d: %s", s.stop(), s.log)
	}
	var said struct {
		URL       string `json:"url"`
		TokenFile string `json:"token_file"`
	}
	if err := json.Unmarshal(line, &said); err != nil {
		m.Fatal(err, string(line))
	}
	s.url, s.tokenFile = said.URL, said.TokenFile
	go func() { _, _ = io.Copy(io.Discard, out) }() // an error at the end is printed there too
	return s
}

func (m *machine) write(name, content string) string {
	m.Helper()
	path := filepath.Join(m.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		m.Fatal(err)
	}
	return path
}
