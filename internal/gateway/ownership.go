package gateway

import (
	board "holdfast/actors/supervisor/view"
	"holdfast/messages"
)

// ownership says which targets of the browser are the task's, at one moment.
type ownership struct {
	h        *hub
	pages    map[messages.TargetID]bool
	frames   map[messages.FrameID]bool
	contexts map[string]bool // whose workers and tabs are the task's
}

func (h *hub) ownershipOf(v *board.View) ownership {
	o := ownership{h: h, pages: map[messages.TargetID]bool{}, frames: map[messages.FrameID]bool{}, contexts: map[string]bool{}}
	for i := range v.Snapshot.Pages {
		o.pages[v.Snapshot.Pages[i].TargetID] = true
	}
	for _, t := range v.Trees.All() {
		o.frames[t.Top.FrameID] = true
		for i := range t.Children {
			o.frames[t.Children[i].FrameID] = true
		}
	}
	if v.Context != "" {
		o.contexts[v.Context] = true
	}
	for id := range h.contexts {
		o.contexts[id] = true
	}
	if v.Scope == messages.ScopeBrowser {
		for id := range o.pages {
			if k := h.known[id]; k != nil && k.Context != "" {
				o.contexts[k.Context] = true
			}
		}
	}
	return o
}

// has says whether a target is the task's. What a page of the task opens is, at once: the
// supervisor comes to the same, a moment later.
func (o ownership) has(k *known) bool {
	switch k.Type {
	case "page":
		if o.pages[k.ID] {
			return true
		}
		opener := o.h.known[k.Opener]
		return k.Opener != "" && (o.pages[k.Opener] || opener != nil && opener.isSeen)
	case "iframe":
		return o.frames[k.parentFrame] || o.frames[messages.FrameID(k.ID)] || o.pages[messages.TargetID(k.parentFrame)]
	case "tab":
		page := o.h.known[k.tab.page]
		return o.contexts[k.Context] || o.pages[k.tab.page] || page != nil && page.Type == "page" && o.has(page)
	case "browser", "browser_ui":
		return false
	}
	return o.contexts[k.Context]
}
