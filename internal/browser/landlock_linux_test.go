package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/browser"
	"holdfast/messages"
	"holdfast/transport"
)

// withoutNamespaces is a manager whose browsers cannot be isolated by mounts, wherever the
// test runs: a directory cannot be hidden as a file is. By rules it can.
func withoutNamespaces(t *testing.T, o browser.Options) (m *browser.Manager, hidden string) {
	t.Helper()
	hidden = t.TempDir()
	if o.StateDir == "" {
		o.StateDir = t.TempDir()
	}
	o.Hide = append(o.Hide, hidden)
	m, err := browser.NewManager(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return m, hidden
}

// TestChromiumIsConfinedByRules: where namespaces are refused, a page of a launched
// Chromium reads neither the token, nor another browser's profile, nor a file that the node
// hides, by file: addresses; and it reads its own profile and the system as before.
func TestChromiumIsConfinedByRules(t *testing.T) {
	t.Parallel()
	state, err := os.MkdirTemp("/tmp", "hf-rules-") // short: Chromium's socket is in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	outside := filepath.Join(t.TempDir(), "outside")
	for path, text := range map[string]string{
		filepath.Join(state, "token"): "PLANTED", outside: "VISIBLE",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(state, link); err != nil {
		t.Fatal(err)
	}
	m, hidden := withoutNamespaces(t, browser.Options{StateDir: state, Isolation: browser.IsolationRequire})
	if err := os.WriteFile(filepath.Join(hidden, "secret"), []byte("PLANTED"), 0o644); err != nil {
		t.Fatal(err)
	}
	first, second := launch(t, m), launch(t, m)
	if how, lacks := first.Seclusion(); how != browser.SecludedRules || !strings.HasPrefix(lacks, "hide ") {
		t.Fatalf("isolated by %s: %s", how, lacks)
	}
	for path, text := range map[string]string{
		filepath.Join(first.Profile(), "tmp", "own"): "OWN", filepath.Join(second.Profile(), "other"): "PLANTED",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := readerOf(t, first)
	for _, path := range []string{
		filepath.Join(state, "token"), filepath.Join(link, "token"), filepath.Join(hidden, "secret"), filepath.Join(second.Profile(), "other"),
		fmt.Sprintf("/proc/%d/root%s/token", os.Getpid(), state), fmt.Sprintf("/proc/%d/cwd/../../%s/token", os.Getpid(), state),
	} {
		if got := read(path); strings.Contains(got, "PLANTED") {
			t.Errorf("%s was read: %q", path, got)
		}
	}
	control, err := browser.NewManager(browser.Options{StateDir: state, Isolation: browser.IsolationOff})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = control.Close(context.Background()) })
	if got := readerOf(t, launch(t, control))(filepath.Join(state, "token")); !strings.Contains(got, "PLANTED") {
		t.Errorf("a browser without rules read %q: this test proves nothing", got)
	}
	for path, want := range map[string]string{
		outside: "VISIBLE", filepath.Join(first.Profile(), "tmp", "own"): "OWN", "/etc/os-release": "NAME=",
	} {
		if got := read(path); !strings.Contains(got, want) {
			t.Errorf("%s: %q", path, got)
		}
	}
}

// readerOf reads files through a page of the browser.
func readerOf(t *testing.T, p *browser.Process) func(path string) string {
	t.Helper()
	from, to, _ := p.Pipe()
	pipe := transport.NewPipe(from, to)
	link, err := transport.Open(t.Context(), transport.Address{Pipe: pipe}, transport.DialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close(); <-link.Closed(); pipe.Close() })
	return func(path string) string {
		var target struct{ TargetID string }
		do(t, link, "", "Target.createTarget", map[string]any{"url": "file://" + path}, &target)
		var session struct{ SessionID string }
		do(t, link, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
		params, _ := json.Marshal(map[string]any{
			"expression": `location.href === 'about:blank' || document.readyState !== 'complete' ? '' : 'read ' + document.body.innerText`,
		})
		for {
			reply, err := link.Do(t.Context(), messages.SessionID(session.SessionID), "Runtime.evaluate", params)
			if err != nil && strings.Contains(err.Error(), "execution context") {
				continue // one document has gone, and the next has not come
			}
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Result struct{ Value string } }
			if err := json.Unmarshal(reply, &got); err != nil {
				t.Fatal(err)
			}
			if text, isRead := strings.CutPrefix(got.Result.Value, "read "); isRead {
				return text
			}
		}
	}
}

// TestASandboxThatIsRequired: a browser that would run without it is not launched, also
// where the operator's own flag takes it away.
func TestASandboxThatIsRequired(t *testing.T) {
	t.Parallel()
	m, _ := withoutNamespaces(t, browser.Options{Path: os.Args[0], Sandbox: browser.SandboxRequire, ExtraArgs: []string{"--no-sandbox"}})
	for _, headless := range []bool{true, false} {
		if _, err := m.Launch(t.Context(), browser.LaunchOptions{IsHeadless: headless}); messages.CodeOf(err) != messages.CodeUpstreamUnavailable || !strings.Contains(err.Error(), "browser.sandbox requires") {
			t.Errorf("error %v", err)
		}
	}
	m, _ = withoutNamespaces(t, browser.Options{Path: os.Args[0], ExtraArgs: []string{"--no-sandbox"}})
	p, err := m.Launch(t.Context(), browser.LaunchOptions{IsHeadless: true})
	if err != nil {
		t.Fatal(err)
	}
	if p.HasSandbox() {
		t.Error("a browser with --no-sandbox has a sandbox")
	}
	if _, err := browser.NewManager(browser.Options{StateDir: t.TempDir(), Sandbox: "maybe"}); err == nil {
		t.Error("a setting that is none was taken")
	}
}
