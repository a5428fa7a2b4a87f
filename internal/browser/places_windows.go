package browser

import (
	"os"
	"path/filepath"
)

const howToInstall = "for example from https://www.google.com/chrome"

// names are the binaries looked for in PATH, most wanted first.
var names = []string{"chromium", "chrome", "msedge"}

// places are where browsers are installed, for every user and for this one.
func places() []string {
	var out []string
	for _, program := range []string{
		`Chromium\Application\chrome.exe`, `Google\Chrome\Application\chrome.exe`,
		`Microsoft\Edge\Application\msedge.exe`, `BraveSoftware\Brave-Browser\Application\brave.exe`,
	} {
		for _, variable := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
			if folder := os.Getenv(variable); filepath.IsAbs(folder) {
				out = append(out, filepath.Join(folder, program))
			}
		}
	}
	return out
}
