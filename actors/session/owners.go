package session

import (
	"slices"
	"sync"

	"holdfast/actors/session/bridge"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// Owners knows which task of the node a page belongs to. Tasks that share a
// browser all hold each new page of it; this tells them which to leave alone.
// Target ids are random and never meet, also those of different browsers. It also
// remembers which tasks have ended on a page, for who comes to it later. Safe for
// concurrent use.
type Owners struct {
	pages    sync.Map // messages.TargetID → messages.TaskID
	contexts sync.Map // the id of a browser context → messages.TaskID
	leavings sync.Map // messages.TaskID → func(messages.TargetID), see Watch

	mu   sync.Mutex
	left []bridge.SiblingLeft // newest last
}

// maxLeft bounds the ends that are remembered. A browser that has not noticed the end of
// a link holds what waits there for as long as its TCP does.
const maxLeft = 256

// Leave remembers the end of a task on its pages.
func (o *Owners) Leave(l bridge.SiblingLeft) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.left) >= maxLeft {
		o.left = slices.Delete(o.left, 0, 1)
	}
	o.left = append(o.left, l)
}

// Left are the ends on a page, oldest first.
func (o *Owners) Left(page messages.TargetID) []bridge.SiblingLeft {
	o.mu.Lock()
	defer o.mu.Unlock()
	var list []bridge.SiblingLeft // nearly always there are none
	for _, l := range o.left {
		if slices.Contains(l.Pages, page) {
			list = append(list, l)
		}
	}
	return list
}

// Claim says that a page is a task's.
func (o *Owners) Claim(page messages.TargetID, task messages.TaskID) { o.pages.Store(page, task) }

// Release says that a page is the task's no longer.
func (o *Owners) Release(page messages.TargetID, task messages.TaskID) {
	o.pages.CompareAndDelete(page, task)
}

// IsElsewhere says whether a page is another task's.
func (o *Owners) IsElsewhere(page messages.TargetID, task messages.TaskID) bool {
	owner, ok := o.pages.Load(page)
	return ok && owner != task
}

// ClaimContext says that a browser context is a task's.
func (o *Owners) ClaimContext(context string, task messages.TaskID) { o.contexts.Store(context, task) }

// ReleaseContext says that a browser context is the task's no longer.
func (o *Owners) ReleaseContext(context string, task messages.TaskID) {
	o.contexts.CompareAndDelete(context, task)
}

// IsForeign says whether a target is another task's: by its id, by what has opened it,
// or by the browser context it is in.
func (o *Owners) IsForeign(t mail.TargetInfo, task messages.TaskID) bool {
	owner, ok := o.contexts.Load(t.Context)
	return ok && owner != task || o.IsElsewhere(t.ID, task) || t.Opener != "" && o.IsElsewhere(t.Opener, task)
}

// Watch has the task told of sessions of other tasks that have ended on its pages.
// Tell is called on any goroutine and does not block.
func (o *Owners) Watch(task messages.TaskID, tell func(messages.TargetID)) {
	o.leavings.Store(task, tell)
}

// Unwatch ends Watch.
func (o *Owners) Unwatch(task messages.TaskID) { o.leavings.Delete(task) }

// PageLeft tells the task whose page it is that a session of the task has ended there.
func (o *Owners) PageLeft(page messages.TargetID, task messages.TaskID) {
	owner, ok := o.pages.Load(page)
	if !ok || owner == task {
		return
	}
	if tell, ok := o.leavings.Load(owner); ok {
		tell.(func(messages.TargetID))(page)
	}
}
