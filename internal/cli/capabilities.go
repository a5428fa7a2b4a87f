package cli

import (
	"fmt"

	"holdfast/internal/browser"
	"holdfast/internal/pressure"
)

// mendSystem is what helps where a system itself lacks something.
const mendSystem = "run the node on Linux, in a container or a virtual machine too, where this matters; docs/platforms.md compares the systems"

// checkSystem says what this system allows a node to do for its browsers.
func checkSystem() []finding {
	var out []finding
	for _, c := range browser.Capabilities() {
		f := finding{Check: c.Name, Status: statusOK, Found: c.Note}
		if !c.IsThere {
			f.Status, f.Mend = statusWarning, mendSystem
		}
		out = append(out, f)
	}
	return append(append(out, checkMemory()), checkShared()...)
}

// checkMemory says whether the node sees how much memory is in use: it takes no new
// task while too much is.
func checkMemory() finding {
	f := finding{Check: "memory pressure", Status: statusOK}
	m := pressure.Take().Memory
	if m.Err != nil {
		f.Status, f.Mend = statusWarning, mendSystem
		f.Found = "the node does not see how much memory is in use, and takes tasks as if there were enough: " + m.Err.Error()
		return f
	}
	f.Found = fmt.Sprintf("%d of %d MiB are in use (%s)", m.Bytes>>20, m.Limit>>20, m.Source)
	return f
}
