package tools

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"holdfast/messages"
)

// mainTab is the name of the tab that a call means which names none.
const mainTab = "main"

// The bounds of what the tools of a node remember.
const (
	maxMemories = 4096 // tasks
	maxTabNames = 256  // names a task
	maxTabName  = 64   // bytes of a name
)

// memories are what tools remember of each task.
type memories struct {
	mu sync.Mutex
	of map[messages.TaskID]*memory
}

// at returns the memory of a task. Beyond the bound one that was not used last is forgotten: its
// tabs are counted anew.
func (m *memories) at(id messages.TaskID) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if found := m.of[id]; found != nil {
		return found
	}
	for other := range m.of {
		if len(m.of) < maxMemories {
			break
		}
		delete(m.of, other)
	}
	made := &memory{numbers: map[messages.TargetID]int{}, named: map[string]messages.TargetID{}, seen: map[messages.TargetID]seen{}, collected: map[string]bool{}}
	m.of[id] = made
	return made
}

// drop forgets a task.
func (m *memories) drop(id messages.TaskID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, id)
}

// memory is what tools remember of one task. It is safe for concurrent use.
type memory struct {
	mu      sync.Mutex
	last    int // the newest number of a tab; none is given twice
	numbers map[messages.TargetID]int
	named   map[string]messages.TargetID
	refs    refs
	seen    map[messages.TargetID]seen

	collected map[string]bool // the downloads that are kept, each by name, size and time
}

// tabs are the pages of a task under the ids by which tools know them.
type tabs struct {
	list  []tab
	named map[string]messages.TargetID
}

type tab struct {
	id     string
	number int
	page   messages.Page
}

// tabs numbers the pages of a snapshot and forgets those that are gone.
func (m *memory) tabs(snap *messages.Snapshot) tabs {
	m.mu.Lock()
	defer m.mu.Unlock()
	isThere := make(map[messages.TargetID]bool, len(snap.Pages))
	out := tabs{named: make(map[string]messages.TargetID, len(m.named))}
	for _, p := range snap.Pages {
		isThere[p.TargetID] = true
		if m.numbers[p.TargetID] == 0 {
			m.last++
			m.numbers[p.TargetID] = m.last
		}
		n := m.numbers[p.TargetID]
		out.list = append(out.list, tab{"t" + strconv.Itoa(n), n, p})
	}
	// A task without a link may know no pages for a moment: its numbers stay.
	if len(snap.Pages) > 0 {
		for t := range m.numbers {
			if !isThere[t] {
				delete(m.numbers, t)
			}
		}
		for name, t := range m.named {
			if !isThere[t] {
				delete(m.named, name)
			}
		}
	}
	for name, t := range m.named {
		out.named[name] = t
	}
	slices.SortFunc(out.list, func(a, b tab) int { return cmp.Compare(a.number, b.number) })
	return out
}

// name gives a page a name, which another page may have had.
func (m *memory) name(name string, t messages.TargetID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.named) >= maxTabNames && m.named[name] == "" {
		return messages.Errorf(messages.CodeLimitReached, "the task has %d named tabs; close one first", maxTabNames)
	}
	m.named[name] = t
	return nil
}

// find returns the page of a tab, by its id, its name or its target id. Without a name it is
// main: the page that was given this name, else the oldest one
// that a person would look at.
func (t tabs) find(name string) (messages.TargetID, bool) {
	if name == "" {
		name = mainTab
	}
	if target, ok := t.named[name]; ok {
		return target, true
	}
	for _, one := range t.list {
		if one.id == name || string(one.page.TargetID) == name {
			return one.page.TargetID, true
		}
	}
	if name == mainTab && len(t.list) > 0 {
		oldest := max(0, slices.IndexFunc(t.list, func(one tab) bool { return !isDecoy(one.page) }))
		return t.list[oldest].page.TargetID, true
	}
	return "", false
}

func (t tabs) idOf(target messages.TargetID) string {
	for _, one := range t.list {
		if one.page.TargetID == target {
			return one.id
		}
	}
	return ""
}

// nameOf is the name of a page; "" where it has none.
func (t tabs) nameOf(target messages.TargetID) string {
	names := t.namesOf(target)
	if len(names) == 0 {
		if found, ok := t.find(""); ok && found == target {
			return mainTab
		}
		return ""
	}
	return names[0]
}

// namesOf are the names that a page was given, sorted.
func (t tabs) namesOf(target messages.TargetID) (names []string) {
	for name, of := range t.named {
		if of == target {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// names are the ids of all tabs.
func (t tabs) names() []string {
	out := make([]string, len(t.list))
	for i, one := range t.list {
		out[i] = one.id
	}
	return out
}
