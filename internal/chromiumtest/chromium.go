package chromiumtest

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"holdfast/internal/browser"
	"holdfast/messages"
)

// Patience is how long a test waits for what must happen. It is generous: it
// only costs time when something is broken.
const Patience = 30 * time.Second

// flags make every cross-site iframe a process of its own and every host
// under .test this machine.
var flags = []string{
	"--site-per-process",
	"--host-resolver-rules=MAP *.test 127.0.0.1",
	"--ignore-certificate-errors",
}

// Browser is a real Chromium that ends with its test.
type Browser struct {
	process *browser.Process
	addr    string
}

// Launch starts a Chromium for this test alone, with args after the package's
// own flags. Without a Chromium the test fails.
func Launch(t testing.TB, args ...string) *Browser {
	t.Helper()
	b, end, err := launch(args)
	if err != nil {
		t.Fatalf("launch Chromium: %v", err)
	}
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Errorf("end Chromium: %v", err)
		}
	})
	return b
}

var shared struct {
	once sync.Once
	b    *Browser
	end  func() error
	err  error
}

// Shared returns the one Chromium of this test binary. It is for tests that
// do not crash it; [Main] ends it.
func Shared(t testing.TB) *Browser {
	t.Helper()
	shared.once.Do(func() { shared.b, shared.end, shared.err = launch(nil) })
	if shared.err != nil {
		t.Fatalf("launch Chromium: %v", shared.err)
	}
	select {
	case <-shared.b.process.Exited():
		t.Fatalf("the shared Chromium is gone: %s", shared.b.process.ExitReason())
	default:
	}
	return shared.b
}

// Runner is what [testing.M] is to goleak and to TestMain.
type Runner interface{ Run() int }

// Main wraps m so that the shared Chromium ends after the last test:
//
//	func TestMain(m *testing.M) { goleak.VerifyTestMain(chromiumtest.Main(m)) }
func Main(m Runner) Runner { return runner{m} }

type runner struct{ m Runner }

func (r runner) Run() int {
	code := r.m.Run()
	shared.once.Do(func() {}) // nothing starts any more
	if shared.end != nil {
		if err := shared.end(); err != nil {
			fmt.Fprintln(os.Stderr, "end Chromium:", err)
			return max(code, 1)
		}
	}
	return code
}

// stateDir is common to every test binary of this user: what one that was
// killed leaves behind, the next one reaps. It is short because Unix socket
// paths are.
func stateDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("hf-test-%d", os.Getuid()))
}

var reapOnce sync.Once

func launch(args []string) (*Browser, func() error, error) {
	m, err := browser.NewManager(browser.Options{StateDir: stateDir(), Transport: browser.TransportPort, Isolation: browser.IsolationOff, ExtraArgs: append(append([]string{}, flags...), args...)})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	reapOnce.Do(func() { _, err = m.Reap(ctx) })
	if err != nil {
		return nil, nil, err
	}
	p, err := m.Launch(ctx, browser.LaunchOptions{IsHeadless: true})
	if err != nil {
		return nil, nil, err
	}
	end := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		return m.Close(ctx)
	}
	u, err := url.Parse(p.Endpoint().Reveal())
	if err != nil {
		return nil, nil, fmt.Errorf("endpoint: %w", end())
	}
	return &Browser{process: p, addr: u.Host}, end, nil
}

// Endpoint is the browser's DevTools URL as the product carries it.
func (b *Browser) Endpoint() messages.CDPURL { return b.process.Endpoint() }

// WS is the raw ws:// URL of the browser's DevTools.
func (b *Browser) WS() string { return b.process.Endpoint().Reveal() }

// HTTP is the http:// URL under which /json/version is found.
func (b *Browser) HTTP() string { return "http://" + b.addr }

// Addr is the DevTools host and port.
func (b *Browser) Addr() string { return b.addr }

// Port is the DevTools port.
func (b *Browser) Port() string {
	_, port, _ := net.SplitHostPort(b.addr)
	return port
}

// PID is the process id of the browser process.
func (b *Browser) PID() int { return b.process.PID() }

// Exited is closed when the browser has ended.
func (b *Browser) Exited() <-chan struct{} { return b.process.Exited() }

// ExitReason says how the browser ended, "" while it runs.
func (b *Browser) ExitReason() string { return b.process.ExitReason() }

// KillProcess ends a process without a warning.
func KillProcess(pid int) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer process.Release()
	return process.Kill()
}

// Kill ends the browser without a warning and waits for its end.
func (b *Browser) Kill(t testing.TB) {
	t.Helper()
	select {
	case <-b.process.Exited():
		return
	default:
	}
	// The pid is ours until the browser has been waited for, which Exited says.
	if err := KillProcess(b.process.PID()); err != nil {
		t.Fatalf("kill Chromium: %v", err)
	}
	select {
	case <-b.process.Exited():
	case <-time.After(Patience):
		t.Fatal("Chromium did not end after it was killed")
	}
}
