package browser_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"holdfast/internal/browser"
	"holdfast/messages"
)

// fake returns a manager of fake browsers that behave as mode says.
func fake(t *testing.T, mode string) (*browser.Manager, string) {
	t.Helper()
	return fakeOver(t, browser.TransportPipe, mode)
}

func fakeOver(t *testing.T, transport browser.Transport, mode string) (*browser.Manager, string) {
	t.Helper()
	dir := t.TempDir()
	m, err := browser.NewManager(browser.Options{Path: os.Args[0], StateDir: dir, Transport: transport, ExtraArgs: []string{"--fake=" + mode}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := m.Close(ctx); err != nil {
			t.Error(err)
		}
		wantNothingLeft(t, dir)
	})
	return m, dir
}

// wantNothingLeft checks that no lease, no profile and no process is left of
// the browsers in dir.
func wantNothingLeft(t *testing.T, dir string) {
	t.Helper()
	for _, sub := range []string{"leases", "profiles"} {
		left, err := os.ReadDir(filepath.Join(dir, sub))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		left = slices.DeleteFunc(left, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".lock") }) // of nodes that live
		if len(left) > 0 {
			t.Errorf("left in %s: %v", sub, left)
		}
	}
	n, err := browser.Carrying(filepath.Join(dir, "profiles"))
	if err != nil || n > 0 {
		t.Errorf("%d processes left (%v)", n, err)
	}
}

func launch(t *testing.T, m *browser.Manager) *browser.Process {
	t.Helper()
	p, err := m.Launch(t.Context(), browser.LaunchOptions{IsHeadless: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func await(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s did not happen within %v", what, patience)
	}
}

func TestCloseIsIdempotentAndConcurrent(t *testing.T) {
	t.Parallel()
	m, dir := fake(t, "obedient")
	p := launch(t, m)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := p.Close(t.Context()); err != nil {
				t.Error(err)
			}
			wantNothingLeft(t, dir)
		})
	}
	all.Wait()
	if got := p.ExitReason(); got != obedientEnd {
		t.Errorf("exit reason %q", got)
	}
}

func TestWholeGroupEnds(t *testing.T) {
	t.Parallel()
	m, dir := fake(t, "group")
	p := launch(t, m)
	child := "--user-data-of=" + p.Profile()
	if n, err := browser.Carrying(child); n != 1 {
		t.Fatalf("%d children (%v), want 1", n, err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantNothingLeft(t, dir)
}

func TestStubbornBrowserIsKilled(t *testing.T) {
	t.Parallel()
	m, dir := fake(t, "stubborn")
	p := launch(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no time for manners
	if err := p.Close(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(p.ExitReason(), killedEnd) {
		t.Errorf("exit reason %q", p.ExitReason())
	}
	wantNothingLeft(t, dir)
}

func TestFailedLaunchSaysWhyAndLeavesNothing(t *testing.T) {
	t.Parallel()
	t.Run("the browser dies", func(t *testing.T) {
		t.Parallel()
		m, dir := fake(t, "dies")
		_, err := m.Launch(t.Context(), browser.LaunchOptions{IsHeadless: true})
		if messages.CodeOf(err) != messages.CodeUpstreamUnavailable || !strings.Contains(err.Error(), "cannot open display") {
			t.Errorf("error %v, want upstream_unavailable with the last words", err)
		}
		if strings.Contains(err.Error(), "hunter") {
			t.Errorf("the error repeats a secret: %v", err)
		}
		wantNothingLeft(t, dir)
	})
	t.Run("the browser says nothing", func(t *testing.T) {
		t.Parallel()
		m, dir := fake(t, "silent")
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := m.Launch(ctx, browser.LaunchOptions{IsHeadless: true})
		if messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
			t.Errorf("error %v, want upstream_unavailable", err)
		}
		wantNothingLeft(t, dir)
	})
	t.Run("there is no browser", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		m, err := browser.NewManager(browser.Options{Path: filepath.Join(dir, "none"), StateDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.Launch(t.Context(), browser.LaunchOptions{}); messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
			t.Errorf("error %v, want upstream_unavailable", err)
		}
		wantNothingLeft(t, dir)
	})
	t.Run("it cannot be executed", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		path := filepath.Join(dir, "broken")
		if err := os.WriteFile(path, []byte("\x7fELF garbage"), 0o700); err != nil {
			t.Fatal(err)
		}
		m, err := browser.NewManager(browser.Options{Path: path, StateDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = m.Launch(t.Context(), browser.LaunchOptions{}); messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
			t.Errorf("error %v, want upstream_unavailable", err)
		}
		wantNothingLeft(t, dir)
	})
	t.Run("the manager closes meanwhile", func(t *testing.T) {
		t.Parallel()
		m, dir := fake(t, "silent")
		failed := make(chan error, 1)
		go func() {
			_, err := m.Launch(context.Background(), browser.LaunchOptions{})
			failed <- err
		}()
		if err := m.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-failed; messages.CodeOf(err) != messages.CodeUpstreamUnavailable {
			t.Errorf("error %v, want upstream_unavailable", err)
		}
		wantNothingLeft(t, dir)
	})
}

func TestLongLinesOnStderrDoNotHideTheEndpoint(t *testing.T) {
	t.Parallel()
	m, _ := fakeOver(t, browser.TransportPort, "endless line")
	if p := launch(t, m); p.Endpoint().IsZero() {
		t.Error("no endpoint")
	}
}

func TestManyBrowsersAtOnce(t *testing.T) {
	t.Parallel()
	m, dir := fake(t, "obedient")
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			p, err := m.Launch(t.Context(), browser.LaunchOptions{IsHeadless: true})
			if err != nil {
				t.Error(err)
				return
			}
			if err := p.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	wantNothingLeft(t, dir)
}
