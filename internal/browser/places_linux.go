package browser

const howToInstall = "Debian, Ubuntu: apt-get install chromium"

// names are the binaries looked for in PATH, most wanted first: Chromium and
// Chrome before their relatives, which refuse some CDP calls.
var names = []string{
	"chromium", "chromium-browser",
	"google-chrome-stable", "google-chrome", "chrome",
	"google-chrome-beta", "google-chrome-unstable",
	"microsoft-edge-stable", "microsoft-edge",
	"brave-browser", "brave-browser-stable", "brave",
}

// places are looked at last, for a node whose PATH is the bare one of a
// service manager.
func places() []string {
	return []string{
		"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/lib/chromium/chromium", "/snap/bin/chromium",
		"/opt/google/chrome/chrome", "/opt/microsoft/msedge/msedge", "/opt/brave.com/brave/brave",
	}
}
