package node

import (
	"os"
	"path/filepath"
	"testing"

	"holdfast/messages"
)

// TestW30_WhatIsLaunchedIsWhatWasLookedAt: a link is followed once, so that it cannot be turned
// elsewhere between the look and the launch, and each launch looks anew.
func TestW30_WhatIsLaunchedIsWhatWasLookedAt(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	app, other, link := filepath.Join(dir, "app"), filepath.Join(dir, "other"), filepath.Join(dir, "link")
	for _, file := range []string{app, other} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(app, link); err != nil {
		t.Fatal(err)
	}
	n := &Node{cfg: Config{Apps: []string{app, link}, AppsDenied: []string{other}}}
	spec := &messages.TaskSpec{Launch: &messages.LaunchSpec{App: link, Args: []string{"--x"}}}
	o, err := n.launchOptions(spec)
	if err != nil || o.App != app || o.IsHeadless || len(o.Args) != 1 {
		t.Fatalf("%+v %v", o, err)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, link); err != nil {
		t.Fatal(err)
	}
	if _, err := n.launchOptions(spec); messages.CodeOf(err) != messages.CodeForbidden {
		t.Errorf("the link leads elsewhere: %v", err)
	}
}
