//go:build !darwin && !windows

package statedir

import "path/filepath"

// systemPlace returns where programs keep their state, "" where there is no home.
func systemPlace(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) { // the XDG rule: a relative one is ignored
		return dir
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state")
	}
	return ""
}
