package browser

import (
	"os"
	"path/filepath"
)

const howToInstall = "for example from https://www.google.com/chrome, or brew install --cask chromium"

// names are the binaries looked for in PATH, most wanted first.
var names = []string{"chromium", "google-chrome", "chrome"}

// places are where applications are installed, for every user and for this one.
func places() []string {
	folders := []string{"/Applications"}
	if home, err := os.UserHomeDir(); err == nil {
		folders = append(folders, filepath.Join(home, "Applications"))
	}
	var out []string
	for _, app := range []string{"Chromium", "Google Chrome", "Google Chrome Beta", "Google Chrome Canary", "Microsoft Edge", "Brave Browser"} {
		for _, folder := range folders {
			out = append(out, filepath.Join(folder, app+".app", "Contents", "MacOS", app))
		}
	}
	return out
}
