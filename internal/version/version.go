package version

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// Info is what was built.
type Info struct {
	Version  string `json:"version"`
	Revision string `json:"revision"` // "" where it is not known
	Go       string `json:"go"`
}

// linkedVersion and linkedRevision are set by the linker (-X) where the build has no
// repository to read them from, as in a container.
var linkedVersion, linkedRevision string

// Read reads it from the binary itself.
func Read() Info {
	i := Info{Version: cmp.Or(linkedVersion, "devel"), Revision: linkedRevision, Go: runtime.Version()}
	built, ok := debug.ReadBuildInfo()
	if !ok {
		return i
	}
	if v := built.Main.Version; linkedVersion == "" && v != "" && v != "(devel)" {
		i.Version = v
	}
	for _, s := range built.Settings {
		if s.Key == "vcs.revision" && linkedRevision == "" {
			i.Revision = s.Value
		}
	}
	return i
}
