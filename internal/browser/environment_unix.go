//go:build unix

package browser

import "path/filepath"

// systemVariables are what a browser of this system needs to find files, fonts and the
// user's session.
var systemVariables = []string{
	"PATH", "HOME",
	"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_*", "DBUS_*", "FONTCONFIG_*",
	"LD_LIBRARY_PATH",
}

// isSameName says whether two texts name one variable.
func isSameName(a, b string) bool { return a == b }

// temporaryVariables name the directory for temporary files of a browser with that profile.
func temporaryVariables(profile string) []string {
	if !hasOwnTemp(profile) {
		return nil
	}
	return []string{"TMPDIR=" + filepath.Join(profile, tmpDir)}
}

// hasOwnTemp says whether a browser's temporary directory is in its profile: Chromium
// makes a socket there, whose address is bounded.
func hasOwnTemp(profile string) bool {
	return len(filepath.Join(profile, tmpDir))+len(singletonSocket) <= maxSocketPath
}
