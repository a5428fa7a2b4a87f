package statedir

import "path/filepath"

// systemPlace returns where programs keep their state, "" where there is no home.
func systemPlace(getenv func(string) string) string {
	if dir := getenv("LocalAppData"); filepath.IsAbs(dir) {
		return dir
	}
	return ""
}
