package node_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"holdfast/internal/node"
	"holdfast/messages"
)

func TestALaunchThatHangsTellsItsLastWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	silent := filepath.Join(dir, "silent.sh")
	if err := os.WriteFile(silent, []byte("#!/bin/sh\ntrap '' TERM\necho some words >&2\nexec sleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, err := node.Start(ctx, node.Config{StateDir: filepath.Join(dir, "state"), ChromePath: silent})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Stop(context.Background()) })
	_, _, err = n.GetOrStart(ctx, "silent", messages.TaskSpec{Launch: &messages.LaunchSpec{}})
	if messages.CodeOf(err) != messages.CodeUpstreamUnavailable || !strings.Contains(err.Error(), "some words") {
		t.Errorf("%v", err)
	}
}
