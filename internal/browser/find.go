package browser

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// PathVariable is the environment variable that names the browser's binary.
const PathVariable = "HOLDFAST_CHROME"

// ErrNotFound says that no browser is installed; its text says what to do.
var ErrNotFound = errors.New("no Chromium found: install one (" + howToInstall + ") " +
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
	for _, path := range places() {
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
