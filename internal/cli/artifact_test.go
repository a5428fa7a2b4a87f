package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/artifact"
	"holdfast/internal/cli"
)

func TestArtifactsOnTheCommandLine(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.started = func(n *cli.RunningNode) (err error) {
		n.Artifacts, err = artifact.New(t.TempDir(), artifact.DefaultBounds())
		return err
	}
	m.serve()
	file := filepath.Join(t.TempDir(), "report.txt")
	if err := os.WriteFile(file, []byte("a report"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, _ := m.want(0, "artifact", "ls", "one"); out != "no artifacts\n" {
		t.Errorf("%q", out)
	}
	id, _ := m.want(0, "artifact", "put", "one", file)
	id = strings.TrimSpace(id)
	m.stdin = "from a pipe"
	if out, _ := m.want(0, "artifact", "put", "one", "-", "--name", "piped.txt", "--json"); !strings.Contains(out, `"name":"piped.txt"`) {
		t.Errorf("%q", out)
	}
	if out, _ := m.want(0, "artifact", "ls", "one"); !strings.Contains(out, id) || !strings.Contains(out, "report.txt") || !strings.Contains(out, "piped.txt") {
		t.Errorf("%q", out)
	}
	if out, _ := m.want(0, "artifact", "get", "one", id); out != "a report" {
		t.Errorf("%q", out)
	}
	to := filepath.Join(t.TempDir(), "saved")
	m.want(0, "artifact", "get", "one", id, to)
	if raw, err := os.ReadFile(to); err != nil || string(raw) != "a report" {
		t.Errorf("%q %v", raw, err)
	}
	m.want(2, "artifact", "get", "one", id, to) // writes over nothing
	other := to + "2"
	if _, errs := m.want(1, "artifact", "get", "one", "a-0123456789abcdef", other); !strings.Contains(errs, "artifact_not_found") {
		t.Errorf("%q", errs)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("a file is left of what could not be read")
	}
	m.want(2, "artifact", "put", "one", filepath.Join(t.TempDir(), "missing"))
}
