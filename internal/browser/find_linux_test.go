package browser_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/internal/browser"
)

// T35: an explicit path, then the environment, then the names in PATH.
func TestT35_FindOrder(t *testing.T) {
	dir := t.TempDir()
	put := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho "+name+" 1.2.3\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("PATH", dir)
	t.Setenv(browser.PathVariable, "")
	find := func(explicit, want string) {
		t.Helper()
		got, err := browser.Find(explicit)
		if err != nil || got != want {
			t.Errorf("Find(%q) = %q, %v; want %q", explicit, got, err, want)
		}
	}
	brave := put("brave")
	if _, err := os.Stat("/usr/bin/chromium"); err == nil {
		// A name in PATH goes before a well-known place.
		find("", brave)
	}
	edge := put("microsoft-edge")
	find("", edge)
	chrome := put("google-chrome")
	find("", chrome)
	chromium := put("chromium")
	find("", chromium)
	t.Setenv(browser.PathVariable, brave)
	find("", brave)
	find(edge, edge)
	find("google-chrome", chrome)

	t.Run("a named binary is never replaced by another", func(t *testing.T) {
		t.Setenv(browser.PathVariable, filepath.Join(dir, "none"))
		if got, err := browser.Find(""); err == nil || !strings.Contains(err.Error(), browser.PathVariable) {
			t.Errorf("Find = %q, %v; want an error that names %s", got, err, browser.PathVariable)
		}
		if got, err := browser.Find(filepath.Join(dir, "nothing")); err == nil {
			t.Errorf("Find = %q; want an error", got)
		}
	})
	t.Run("the error says what to do", func(t *testing.T) {
		if !strings.Contains(browser.ErrNotFound.Error(), "apt-get install chromium") {
			t.Error(browser.ErrNotFound)
		}
	})
	t.Run("version", func(t *testing.T) {
		if got, err := browser.Version(t.Context(), chrome); err != nil || got != "google-chrome 1.2.3" {
			t.Errorf("Version = %q, %v", got, err)
		}
		if _, err := browser.Version(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Version of nothing: %v", err)
		}
	})
}
