package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestRelease: a release has its version, its manual page and a checksum that holds, and
// one that is built again has the same bytes.
func TestRelease(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("../../.ci/release")
	if err != nil {
		t.Fatal(err)
	}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	name := "holdfast_1.2.3-test_" + runtime.GOOS + "_" + runtime.GOARCH
	build := func(dir string) []byte {
		run(t, dir, []string{"RELEASE_DIR=" + dir}, script, "v1.2.3-test", platform)
		b, err := os.ReadFile(filepath.Join(dir, name+".tar.gz"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	dir := t.TempDir()
	if first, second := build(dir), build(t.TempDir()); string(first) != string(second) {
		t.Error("the archives of one commit differ")
	}
	run(t, dir, nil, "sha256sum", "--check", "SHA256SUMS")
	run(t, dir, nil, "tar", "xzf", name+".tar.gz")
	if out := run(t, dir, nil, filepath.Join(dir, name, "holdfast"), "version"); !strings.HasPrefix(out, "holdfast v1.2.3-test ") {
		t.Errorf("version: %q", out)
	}
	page, err := os.ReadFile(filepath.Join(dir, name, "holdfast.1"))
	if err != nil || !strings.Contains(string(page), "v1.2.3") {
		t.Errorf("the manual page: %v", err)
	}
	for _, file := range []string{"LICENSE", "README.md"} {
		if _, err := os.Stat(filepath.Join(dir, name, file)); err != nil {
			t.Error(err)
		}
	}
	for _, version := range []string{"", "../v1", "v1 v2", "-v"} {
		if err := exec.Command(script, version, platform).Run(); err == nil {
			t.Errorf("a release of version %q was built", version)
		}
	}
}

// run runs a program that has to succeed, and returns what it said.
func run(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	c := exec.Command(program, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}
