package statedir

import (
	"errors"
	"path/filepath"
)

// ErrNowhere says that the environment names no place.
var ErrNowhere = errors.New("there is no home directory: set HOLDFAST_STATE_DIR")

// Default is $HOLDFAST_STATE_DIR, else holdfast in the place that the system has for
// it: $XDG_STATE_HOME or ~/.local/state on Linux, ~/Library/Application Support on
// macOS, %LocalAppData% on Windows. The path is absolute; nothing is created.
func Default(getenv func(string) string) (string, error) {
	if dir := getenv("HOLDFAST_STATE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := systemPlace(getenv); dir != "" {
		return filepath.Join(dir, "holdfast"), nil
	}
	return "", ErrNowhere
}
