package view

import (
	"slices"

	"holdfast/messages"
)

// ClientPages are the pages of a task that clients of the gateway, or its standby on another node,
// may not do with as they like.
type ClientPages struct {
	// Off are to be left, and to be kept off: they are released (C19), or closed with a dialog
	// of a frame (C15).
	Off []messages.TargetID
	// Kept may not be left: that might end the browser (C58). It is a matter of a second.
	Kept []messages.TargetID
	// StandbyOff are to be left by the task's standby on another node, for the reasons of Off.
	StandbyOff []messages.TargetID
}

// IsKept says whether a page may not be left.
func (p ClientPages) IsKept(t messages.TargetID) bool { return slices.Contains(p.Kept, t) }

// guests are the ClientPages that a board shows. The board's lock protects it.
type guests struct {
	pages   ClientPages
	changed chan struct{} // closed by the next change; nil without a waiting reader
}

// SetClientPages shows other ones. It is for the publisher.
func (b *Board) SetClientPages(p ClientPages) {
	b.mu.Lock()
	b.guests.pages = p
	if b.guests.changed != nil {
		close(b.guests.changed)
		b.guests.changed = nil
	}
	watch := b.watch
	b.mu.Unlock()
	if watch != nil {
		watch()
	}
}

// ClientPages returns what is shown now; changed is closed once that is another.
func (b *Board) ClientPages() (pages ClientPages, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.guests.changed == nil {
		b.guests.changed = make(chan struct{})
	}
	return b.guests.pages, b.guests.changed
}
