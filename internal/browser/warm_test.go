package browser_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"holdfast/internal/browser"
)

// awaitWarm waits until so many browsers are ready.
func awaitWarm(t *testing.T, m *browser.Manager, count int) {
	t.Helper()
	deadline := time.After(patience)
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for m.Warm() != count {
		select {
		case <-pace.C:
		case <-deadline:
			t.Fatalf("%d browsers are ready, not %d", m.Warm(), count)
		}
	}
}

func TestWarmBrowsersGoToTasksThatAskForNothing(t *testing.T) {
	t.Parallel()
	m, _ := fake(t, "obedient")
	m.KeepWarm(2)
	awaitWarm(t, m, 2)
	for name, o := range map[string]browser.LaunchOptions{
		"flags":    {IsHeadless: true, Args: []string{"--x"}},
		"a window": {},
		"a proxy":  {IsHeadless: true, Proxy: "127.0.0.1:9"},
	} {
		if _, err := m.Launch(t.Context(), o); err != nil || m.Warm() != 2 {
			t.Errorf("%s: %v, and %d are ready", name, err, m.Warm())
		}
	}
	taken := launch(t, m)
	if n := m.Warm(); n != 1 {
		t.Errorf("%d are ready", n)
	}
	select {
	case <-taken.Exited():
		t.Error("it has ended")
	default:
	}
	awaitWarm(t, m, 2)
	if n, _ := m.Running(); n != 6 {
		t.Errorf("%d run", n)
	}
}

func TestAWarmBrowserThatEndsIsReplaced(t *testing.T) {
	t.Parallel()
	m, dir := fake(t, "obedient")
	m.KeepWarm(1)
	awaitWarm(t, m, 1)
	pids, err := browser.PIDsCarrying(filepath.Join(dir, "profiles"))
	if err != nil || len(pids) == 0 {
		t.Fatal(pids, err)
	}
	for _, pid := range pids {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	awaitWarm(t, m, 0)
	awaitWarm(t, m, 1)
	select {
	case <-launch(t, m).Exited():
		t.Error("a dead browser was given out")
	default:
	}
}

// TestNoBrowserIsKeptWarmWhereNoneStarts: the node runs, and tries again until it ends.
func TestNoBrowserIsKeptWarmWhereNoneStarts(t *testing.T) {
	t.Parallel()
	m, _ := fake(t, "dies")
	m.KeepWarm(1)
	if _, err := m.Launch(t.Context(), browser.LaunchOptions{IsHeadless: true}); err == nil {
		t.Error("a browser was launched")
	}
	if n := m.Warm(); n != 0 {
		t.Errorf("%d are ready", n)
	}
}
