//go:build !linux

package cli

const (
	mendIsolation = mendSystem
	mendSandbox   = "remove --no-sandbox from the browser's arguments"
)

// checkShared looks at nothing: Chromium's processes share memory without a file system
// of a fixed size here.
func checkShared() []finding { return nil }
