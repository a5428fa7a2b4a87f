package session

import (
	"sync"

	"holdfast/messages"
)

// Owners knows which task of the node a page belongs to. Tasks that share a
// browser all hold each new page of it; this tells them which to leave alone.
// Target ids are random and never meet, also those of different browsers. Safe
// for concurrent use.
type Owners struct{ pages sync.Map } // messages.TargetID → messages.TaskID

// Claim says that a page is a task's.
func (o *Owners) Claim(page messages.TargetID, task messages.TaskID) { o.pages.Store(page, task) }

// Release says that a page is the task's no longer.
func (o *Owners) Release(page messages.TargetID, task messages.TaskID) {
	o.pages.CompareAndDelete(page, task)
}

// Elsewhere says whether a page is another task's.
func (o *Owners) Elsewhere(page messages.TargetID, task messages.TaskID) bool {
	owner, ok := o.pages.Load(page)
	return ok && owner != task
}
