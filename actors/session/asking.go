package session

import (
	"maps"
	"slices"
	"sync"

	"holdfast/messages"
)

// Asking knows which sites wait in a dialog, by browser and task. Tasks of a node that
// share a browser share processes of one site as well (C59), and a page in one of
// them is silent until a dialog is answered that its own task knows nothing of. It
// tells sites and never whose they are. Safe for concurrent use.
type Asking struct {
	mu       sync.Mutex
	browsers map[string]map[messages.TaskID][]string
	where    map[messages.TaskID]string // in which of them a task has any
}

// Set replaces what a task's dialogs in a browser are. A browser that cannot be told
// from others, whose mark is "", has none: an address alone proves nothing.
func (a *Asking) Set(browser string, task messages.TaskID, sites []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if mark, has := a.where[task]; has {
		delete(a.where, task)
		if delete(a.browsers[mark], task); len(a.browsers[mark]) == 0 {
			delete(a.browsers, mark)
		}
	}
	if browser == "" || len(sites) == 0 {
		return
	}
	if a.browsers == nil {
		a.browsers, a.where = map[string]map[messages.TaskID][]string{}, map[messages.TaskID]string{}
	}
	a.where[task] = browser
	if a.browsers[browser] == nil {
		a.browsers[browser] = map[messages.TaskID][]string{}
	}
	a.browsers[browser][task] = slices.Clone(sites)
}

// Elsewhere returns the sites that wait in a dialog of another task of the same
// browser, each once, in order; "" stands for one that is not known.
func (a *Asking) Elsewhere(browser string, task messages.TaskID) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	found := map[string]bool{}
	for other, sites := range a.browsers[browser] {
		if other != task {
			for _, s := range sites {
				found[s] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
