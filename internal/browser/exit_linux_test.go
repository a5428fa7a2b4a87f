package browser_test

import (
	"context"
	"os"
	"syscall"
	"testing"

	"holdfast/internal/browser"
)

// TestEveryEndIsToldOnce with how it came.
func TestEveryEndIsToldOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, mode string
		end        func(*testing.T, *browser.Process)
		want       browser.Exit
	}{
		{"by us", "obedient", func(t *testing.T, p *browser.Process) {
			if err := p.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}, browser.ExitStopped},
		{"by a signal", "obedient", func(t *testing.T, p *browser.Process) {
			if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}, browser.ExitSignal},
		{"by itself", "obedient", func(t *testing.T, p *browser.Process) {
			if err := syscall.Kill(p.PID(), syscall.SIGTERM); err != nil { // a browser exits in good order on SIGTERM from any sender
				t.Error(err)
			}
		}, browser.ExitExited},
		{"before it is ready", "dies", nil, browser.ExitLaunch},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			told := make(chan browser.Exit, 8)
			m, err := browser.NewManager(browser.Options{
				Path: os.Args[0], StateDir: t.TempDir(), ExtraArgs: []string{"--fake=" + tc.mode},
				OnExit: func(e browser.Exit) { told <- e },
			})
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Launch(t.Context(), browser.LaunchOptions{IsHeadless: true})
			if (err == nil) != (tc.end != nil) {
				t.Fatalf("launch: %v", err)
			}
			if tc.end != nil {
				tc.end(t, p)
				await(t, "the exit", p.Exited())
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			if err := m.Close(ctx); err != nil {
				t.Error(err)
			}
			if len(told) != 1 {
				t.Fatalf("told %d times", len(told))
			}
			if got := <-told; got != tc.want {
				t.Errorf("told %s, want %s", got, tc.want)
			}
		})
	}
}

func TestRunningBrowsersAreSummedUp(t *testing.T) {
	t.Parallel()
	m, _ := fake(t, "group")
	if n, rss := m.Running(); n != 0 || rss != 0 {
		t.Errorf("none: %d browsers, %d bytes", n, rss)
	}
	p := launch(t, m)
	n, rss := m.Running()
	if n != 1 || rss < 1<<20 || rss > 8<<30 {
		t.Errorf("%d browsers, %d bytes", n, rss)
	}
	if _, again := m.Running(); again != rss {
		t.Error("a sum that is fresh is made anew")
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, rss := m.Running(); n != 0 || rss != 0 {
		t.Errorf("afterwards: %d browsers, %d bytes", n, rss)
	}
}
