package instance_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"holdfast/internal/cluster/instance"
)

func take(t *testing.T, dir string) *instance.Claim {
	t.Helper()
	c, err := instance.Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func release(t *testing.T, c *instance.Claim) {
	t.Helper()
	if err := c.Release(); err != nil {
		t.Error(err)
	}
}

func TestARunKnowsTheOneBeforeIt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	first := take(t, dir)
	if first.Predecessor != "" || first.Name == "" {
		t.Errorf("the first run: %+v", first)
	}
	if _, err := instance.Take(dir); !errors.Is(err, instance.ErrTaken) {
		t.Errorf("two runs at a time: %v", err)
	}
	release(t, first)
	second := take(t, dir)
	defer release(t, second)
	if second.Predecessor != first.Name || second.Name == first.Name {
		t.Errorf("%+v follows %+v", second, first)
	}
}

func TestADamagedFileNamesNoRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "instance"), []byte("a/b\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := take(t, dir)
	defer release(t, c)
	if c.Predecessor != "" {
		t.Errorf("it names %q", c.Predecessor)
	}
}
