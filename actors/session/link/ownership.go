package link

import (
	"holdfast/actors/session/bridge"
	"holdfast/actors/session/effect"
	"holdfast/internal/smallmap"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// ownership says which pages of the browser are the task's, on either link: those in the
// map, what they open, and with scope browser all but other tasks'.
type ownership struct {
	smallmap.Map[messages.TargetID, bool]
	scope  messages.Scope
	others map[messages.TargetID]Others // of the targets that this step may decide over
}

// Others is what the node knows of its other tasks about one target, at one moment: the
// shell tells a machine before a step that may need it. The zero value is nothing.
type Others struct {
	IsElsewhere       bool // another task's page
	IsOpenerElsewhere bool // so is the page that opened it
	// IsForeign says that it is left alone even where the task's scope is the browser.
	IsForeign bool
	Ended     []bridge.SiblingLeft // the tasks that have ended on it
}

func newOwnership(scope messages.Scope, pages []messages.TargetID) ownership {
	o := ownership{scope: scope}
	for _, t := range pages {
		o.Set(t, true)
	}
	return o
}

// hasOpened says whether a page of the task has opened this one.
func (o *ownership) hasOpened(t mail.TargetInfo) bool { return t.Opener != "" && o.At(t.Opener) }

// hasAll says whether a page is the task's since every page is, but for other tasks'.
func (o *ownership) hasAll(t mail.TargetInfo) bool {
	return o.scope == messages.ScopeBrowser && !o.others[t.ID].IsForeign
}

// letGo resumes a page that is none of the task's and leaves it, in this order: a page that
// is left while held stays frozen (C33).
//
// A popup that can access its opener runs as soon as the first of the clients that hold it
// resumes it. One that another task's page opened is therefore left to that task to resume,
// once it can see the popup's dialogs.
func (o *ownership) letGo(a mail.TargetAttached) []effect.Effect {
	tag, others := effect.Tag{Kind: effect.TagNone}, o.others[a.Info.ID]
	if !a.IsWaiting && others.IsElsewhere {
		tag = effect.Tag{Kind: TagPageLeft, Page: a.Info.ID}
	}
	left := detachFrom(tag, a.Session)
	if a.IsWaiting && a.Info.CanAccessOpener && others.IsOpenerElsewhere {
		return []effect.Effect{left}
	}
	return []effect.Effect{effect.Command{Session: a.Session, Tag: effect.Tag{Kind: effect.TagNone}, Method: effect.Resume}, left}
}
