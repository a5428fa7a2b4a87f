package statedir

import (
	"errors"
	"path/filepath"
)

// ErrNowhere says that the environment names no place.
var ErrNowhere = errors.New("there is no home directory: set HOLDFAST_STATE_DIR")

// Default is $HOLDFAST_STATE_DIR, else holdfast under $XDG_STATE_HOME, else
// under ~/.local/state. The path is absolute; nothing is created.
func Default(getenv func(string) string) (string, error) {
	if dir := getenv("HOLDFAST_STATE_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) { // the XDG rule: a relative one is ignored
		return filepath.Join(dir, "holdfast"), nil
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "holdfast"), nil
	}
	return "", ErrNowhere
}
