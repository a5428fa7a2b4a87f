package cli

import (
	"encoding/json"
	"fmt"
)

type versionCmd struct{ printing }

// Run implements the command.
func (c *versionCmd) Run(r *run) error {
	if r.IsJSON {
		return json.NewEncoder(r.Stdout).Encode(r.Version)
	}
	fmt.Fprintf(r.Stdout, "holdfast %s %s %s\n", r.Version.Version, r.Version.Revision, r.Version.Go)
	return nil
}
