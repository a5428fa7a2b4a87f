package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
	"time"

	"holdfast/messages"
)

// anchored asks until the task's second link stands.
func (s *shell) anchored(id string) {
	s.Helper()
	for deadline := time.Now().Add(patience); ; {
		out, _ := s.run(0, "snapshot", id, "--json")
		var snap messages.Snapshot
		if err := json.Unmarshal([]byte(out), &snap); err != nil {
			s.Fatal(err)
		}
		if snap.Connection.Anchor == messages.LinkUp {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("no anchor: %+v", snap.Connection)
		}
	}
}

// The operator's fire drill, on a real browser.
func TestChaosCommand(t *testing.T) {
	t.Parallel()
	t.Run("the prompt outlives either connection", func(t *testing.T) {
		t.Parallel()
		s := &shell{T: t, state: t.TempDir()}
		p := s.serve("--allow-chaos")
		s.run(0, "task", "start", "one")
		s.run(0, "navigate", "one", "data:text/html,<body>")
		for _, which := range []string{"primary", "anchor"} {
			s.anchored("one")
			s.run(0, "cdp", "one", "Runtime.evaluate", `{"expression":"setTimeout(() => { window.got = prompt('name?', 'x') }, 0)"}`)
			s.watch("one", messages.EventDialogOpened)
			out, _ := s.run(0, "chaos", "--task", "one", "--kill", which)
			if !strings.HasPrefix(out, "killed "+which+" of one\nback after ") || !strings.Contains(out, "1 open dialog") || strings.Contains(out, "lost") {
				t.Errorf("%s: %s", which, out)
			}
			s.run(0, "dialog", "accept", "one", "--text", which)
			if out, _ := s.run(0, "cdp", "one", "Runtime.evaluate", `{"expression":"window.got"}`); !strings.Contains(out, `"`+which+`"`) {
				t.Errorf("%s: the page got %s", which, out)
			}
		}
		s.anchored("one")
		if out, _ := s.run(0, "chaos", "--task", "one", "--kill", "both"); !strings.HasPrefix(out, "killed primary and anchor of one\nback after ") {
			t.Error(out)
		}
		p.signal(t, syscall.SIGTERM)
		p.wait(t)
		s.wantNothingLeft()
	})
	t.Run("a node that was not told so kills nothing", func(t *testing.T) {
		t.Parallel()
		s := &shell{T: t, state: t.TempDir()}
		p := s.serve()
		s.run(0, "task", "start", "one")
		if _, errs := s.run(1, "chaos", "--task", "one", "--kill", "primary"); !strings.HasPrefix(errs, "forbidden: ") {
			t.Error(errs)
		}
		p.signal(t, syscall.SIGTERM)
		p.wait(t)
		s.wantNothingLeft()
	})
}
