package supervisor

import (
	"slices"

	"holdfast/messages"
)

// process tells a browser that was started anew from a transport that dropped.
// After both a link stands again at the same address, and only after the second
// the pages do.
type process struct {
	known string              // of the last link that attached; "" for one that does not tell
	now   string              // of the link that stands
	left  []messages.TargetID // the task's pages when that link was lost
	held  bool                // there was one
}

// linked notes whose process a new link leads to, and says whether that is known to be
// another one.
func (p *process) linked(mark string) bool {
	p.now = mark
	return p.known != "" && p.now != "" && p.known != p.now
}

// lost notes what the task had when its link ended. Of a link that never
// attached there is nothing to note.
func (p *process) lost(attached bool, pages []messages.TargetID) {
	if attached {
		p.known, p.left, p.held = p.now, slices.Clone(pages), true
	}
}

// attached says whether the browser that has these pages is another one than
// the last, and how many pages went with that.
//
// No page of the last one is there: ids of targets are never used again. Nor is one there
// when a user closed all of them meanwhile, so the mark has to differ as well; an address
// without a mark leaves it at the pages.
func (p *process) attached(pages []messages.TargetID) (gone int, restarted bool) {
	if !p.held {
		return 0, false
	}
	left := p.left
	p.left, p.held = nil, false
	if slices.ContainsFunc(left, func(t messages.TargetID) bool { return slices.Contains(pages, t) }) {
		return 0, false
	}
	if p.known != "" && p.now != "" {
		return len(left), p.known != p.now
	}
	return len(left), len(left) > 0
}
