package statedir

import "path/filepath"

// systemPlace returns where programs keep their state, "" where there is no home.
func systemPlace(getenv func(string) string) string {
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, "Library", "Application Support")
	}
	return ""
}
