package cli

import (
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

// BuildVersion reads the version from the binary itself.
func BuildVersion() Version {
	v := Version{Version: "devel", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if m := info.Main.Version; m != "" && m != "(devel)" {
		v.Version = m
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
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
