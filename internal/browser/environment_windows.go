package browser

import (
	"path/filepath"
	"strings"
)

// systemVariables are what a browser of this system needs to find files, fonts and the
// user's session.
var systemVariables = []string{
	"PATH", "PATHEXT", "COMSPEC", "OS", "SystemRoot", "SystemDrive", "windir",
	"USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "ALLUSERSPROFILE", "PUBLIC",
	"ProgramData", "ProgramFiles*", "ProgramW6432", "CommonProgramFiles*", "CommonProgramW6432",
	"NUMBER_OF_PROCESSORS", "PROCESSOR_*", "SESSIONNAME",
}

// isSameName says whether two texts name one variable, which are told apart without
// regard to case here.
func isSameName(a, b string) bool { return strings.EqualFold(a, b) }

// temporaryVariables name the directory for temporary files of a browser with that profile.
func temporaryVariables(profile string) []string {
	dir := filepath.Join(profile, tmpDir)
	return []string{"TEMP=" + dir, "TMP=" + dir}
}
