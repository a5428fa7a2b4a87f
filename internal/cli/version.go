package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version is what was built.
type Version struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
}

// linkedVersion and linkedRevision are set by the linker (-X) where the build has no
// repository to read them from, as in a container.
var linkedVersion, linkedRevision string

// BuildVersion reads the version from the binary itself.
func BuildVersion() Version {
	v := Version{Version: cmp.Or(linkedVersion, "devel"), Revision: linkedRevision, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if m := info.Main.Version; linkedVersion == "" && m != "" && m != "(devel)" {
		v.Version = m
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && linkedRevision == "" {
			v.Revision = s.Value
		}
	}
	return v
}

type versionCmd struct{}

// Run implements the command.
func (c *versionCmd) Run(r *run) error {
	if r.JSON {
		return json.NewEncoder(r.Stdout).Encode(r.Version)
	}
	fmt.Fprintf(r.Stdout, "holdfast %s %s %s\n", r.Version.Version, r.Version.Revision, r.Version.Go)
	return nil
}
