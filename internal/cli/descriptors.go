package cli

import (
	"fmt"

	"holdfast/internal/api"
	"holdfast/internal/pressure"
	"holdfast/messages"
)

// What a node opens at most (docs/performance.md, "Scale").
const (
	descriptorsPerTask    = 2 // its two links
	descriptorsPerBrowser = 2 // more, for one that the node has launched
	descriptorsOfNode     = 100
)

// checkDescriptors reads the limit that a node gets which is started as this
// process was; Go raises the soft one to the hard one for both.
func checkDescriptors(l messages.Limits) finding {
	limit, err := descriptorLimit()
	if err != nil {
		return finding{Check: checkOfDescriptors, Status: statusSkipped, Found: err.Error()}
	}
	l.MaxBrowsers = maxBrowsers(l)
	return descriptors(limit, l.WithDefaults())
}

// maxBrowsers is how many browsers a node launches at most: what is configured, or
// else what the memory of this machine allows.
func maxBrowsers(l messages.Limits) int {
	if l.MaxBrowsers == 0 {
		return messages.DefaultMaxBrowsers(pressure.Take().Memory.Limit)
	}
	return l.MaxBrowsers
}

const checkOfDescriptors = "descriptors"

// descriptors says whether so many are enough for as many tasks, browsers and
// callers as are let in.
func descriptors(limit uint64, l messages.Limits) finding {
	browsers := min(l.MaxBrowsers, l.MaxTasks)
	tasks := uint64(descriptorsPerTask*l.MaxTasks + descriptorsPerBrowser*browsers + descriptorsOfNode)
	need := tasks + api.MaxConns
	f := finding{
		Check: checkOfDescriptors, Status: statusOK,
		Found: fmt.Sprintf("%d may be open; %d tasks, %d of them with a browser of the node, take up to %d, and HTTP up to %d more", limit, l.MaxTasks, browsers, tasks, api.MaxConns),
	}
	if limit < need {
		f.Status = statusWarning
		f.Mend = fmt.Sprintf("let it have %d (LimitNOFILE= of a service, --ulimit nofile= of a container, ulimit -n), or lower limits.max_tasks", need)
	}
	return f
}
