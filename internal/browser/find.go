package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// PathVariable is the environment variable that names the browser's binary.
const PathVariable = "HOLDFAST_CHROME"

// names are the binaries looked for in PATH, most wanted first: Chromium and
// Chrome before their relatives, which refuse some CDP calls.
var names = []string{
	"chromium", "chromium-browser",
	"google-chrome-stable", "google-chrome", "chrome",
	"google-chrome-beta", "google-chrome-unstable",
	"microsoft-edge-stable", "microsoft-edge",
	"brave-browser", "brave-browser-stable", "brave",
}

// places are looked at last, for a node whose PATH is the bare one of a
// service manager.
var places = []string{
	"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/lib/chromium/chromium", "/snap/bin/chromium",
	"/opt/google/chrome/chrome", "/opt/microsoft/msedge/msedge", "/opt/brave.com/brave/brave",
}

// ErrNotFound says that no browser is installed; its text says what to do.
var ErrNotFound = errors.New("no Chromium found: install one (Debian, Ubuntu: apt-get install chromium) " +
	"or name its binary in " + PathVariable)

// Find returns the path of the browser: explicit when it is not empty, else
// the one [PathVariable] names, else the first known name in PATH (row T35).
// A binary that was named but cannot be run is an error, never silently
// replaced by another.
func Find(explicit string) (string, error) {
	if explicit != "" {
		return executable(explicit, "the configured browser")
	}
	if named := os.Getenv(PathVariable); named != "" {
		return executable(named, PathVariable)
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return filepath.Abs(path)
		}
	}
	for _, path := range places {
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", ErrNotFound
}

func executable(path, origin string) (string, error) {
	found, err := exec.LookPath(path)
	if err != nil {
		return "", fmt.Errorf("%s names %q, which cannot be run: %w", origin, path, errors.Unwrap(err))
	}
	return filepath.Abs(found)
}

// versionDeadline bounds [Version] for a binary that never ends.
const versionDeadline = 10 * time.Second

// Version asks the binary at path for its version, one line such as
// "Chromium 156.0.8078.79 built on Debian GNU/Linux 12 (bookworm)".
func Version(ctx context.Context, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = environment(nil)
	cmd.WaitDelay = time.Second
	var out strings.Builder
	cmd.Stdout = &limitedWriter{w: &out, left: 4096}
	done, err := start(cmd)
	if err != nil {
		return "", fmt.Errorf("browser version: %w", err)
	}
	defer done()
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("browser version: %w", err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(out.String()), "\n")
	if line == "" {
		return "", fmt.Errorf("browser version: %s printed none", path)
	}
	return strings.TrimSpace(line), nil
}
