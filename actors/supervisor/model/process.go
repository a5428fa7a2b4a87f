package model

import (
	"slices"

	"holdfast/messages"
)

// Process tells a browser that was started anew from a transport that dropped.
// After both a link stands again at the same address, and only after the second
// the pages do.
type Process struct {
	known       string              // of the last link that attached; "" for one that does not tell
	Now         string              // of the link that stands
	left        []messages.TargetID // the task's pages when that link was lost
	wasAttached bool                // there was one
}

// NoteLink notes whose process a new link leads to, and says whether that is known to be
// another one.
func (p *Process) NoteLink(mark string) bool {
	p.Now = mark
	return p.known != "" && p.Now != "" && p.known != p.Now
}

// Lost notes what the task had when its link ended. Of a link that never
// attached there is nothing to note.
func (p *Process) Lost(attached bool, pages []messages.TargetID) {
	if attached {
		p.known, p.left, p.wasAttached = p.Now, slices.Clone(pages), true
	}
}

// Attached says whether the browser that has these pages is another one than
// the last, and how many pages went with that.
//
// No page of the last one is there: ids of targets are never used again. Nor is one there
// when a user closed all of them meanwhile, so the mark has to differ as well; an address
// without a mark leaves it at the pages.
func (p *Process) Attached(pages []messages.TargetID) (gone int, restarted bool) {
	if !p.wasAttached {
		return 0, false
	}
	left := p.left
	p.left, p.wasAttached = nil, false
	if slices.ContainsFunc(left, func(t messages.TargetID) bool { return slices.Contains(pages, t) }) {
		return 0, false
	}
	if p.known != "" && p.Now != "" {
		return len(left), p.known != p.Now
	}
	return len(left), len(left) > 0
}
