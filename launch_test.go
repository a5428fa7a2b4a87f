package holdfast_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdfast"
	"holdfast/internal/browser"
	"holdfast/messages"
)

// TestALaunchHasLessTimeThanItsStart: the caller hears the browser's last words, and
// not that there was no answer.
func TestALaunchHasLessTimeThanItsStart(t *testing.T) {
	t.Parallel()
	const ending = 5 * time.Second // of a browser that is killed, and an attach's beginning
	if browser.LaunchBudget+ending > holdfast.StartBudget {
		t.Errorf("a launch may take %v of %v", browser.LaunchBudget, holdfast.StartBudget)
	}
}

func TestALaunchThatHangsTellsItsLastWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	silent := filepath.Join(dir, "silent.sh")
	if err := os.WriteFile(silent, []byte("#!/bin/sh\ntrap '' TERM\necho some words >&2\nexec sleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, err := holdfast.Start(ctx, holdfast.Config{StateDir: filepath.Join(dir, "state"), ChromePath: silent})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Stop(context.Background()) })
	_, _, err = n.GetOrStart(ctx, "silent", messages.TaskSpec{Launch: &messages.LaunchSpec{}})
	if messages.CodeOf(err) != messages.CodeUpstreamUnavailable || !strings.Contains(err.Error(), "some words") {
		t.Errorf("%v", err)
	}
}
