package holdfast

import (
	"errors"
	"os"
	"path/filepath"
)

// DefaultStateDir is where a node keeps what it must find again: under
// $HOLDFAST_STATE_DIR, else in holdfast under $XDG_STATE_HOME, else under
// ~/.local/state.
func DefaultStateDir() (string, error) {
	if dir := os.Getenv("HOLDFAST_STATE_DIR"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) { // the XDG rule: a relative one is ignored
		return filepath.Join(dir, "holdfast"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", errors.New("holdfast: there is no home directory; set HOLDFAST_STATE_DIR")
	}
	return filepath.Join(home, ".local", "state", "holdfast"), nil
}
