package chaos

import (
	"slices"

	"holdfast/messages"
)

const (
	kindPage   = "page"
	kindIframe = "iframe"
)

// target is what a session can be attached to: a page, or a frame whose
// document lives in another process than its parent's. It owns the frames of
// its tree that share its process.
type target struct {
	id       messages.TargetID
	kind     string
	page     *page
	parent   *target // the target that owns the parent frame; nil for a page
	root     *frame
	proc     *proc
	sessions []*session // in order of attach

	waiting   []*session // those that hold it before its first script
	isFrozen  bool       // held by a client that is gone (C33)
	start     func()     // what it does when it is resumed
	untold    []*session // while it is announced: discoverers who have yet to hear
	isRevived bool       // its process is new after a crash
	isClosing bool       // Target.closeTarget has taken it out of its window
	reports   []report   // what its document wrote to the console
	pause     *pause     // a script of its document that waits in the debugger
}

type targetInfo struct {
	TargetID         messages.TargetID `json:"targetId"`
	Type             string            `json:"type"`
	Title            string            `json:"title"`
	URL              string            `json:"url"`
	Attached         bool              `json:"attached"`
	OpenerID         messages.TargetID `json:"openerId,omitempty"`
	ParentID         messages.TargetID `json:"parentId,omitempty"`
	CanAccessOpener  bool              `json:"canAccessOpener"`
	OpenerFrameID    messages.FrameID  `json:"openerFrameId,omitempty"`
	ParentFrameID    messages.FrameID  `json:"parentFrameId,omitempty"`
	BrowserContextID string            `json:"browserContextId,omitempty"`
}

func (b *Browser) info(t *target) targetInfo {
	i := targetInfo{
		TargetID: t.id, Type: t.kind, URL: t.root.publicURL(), Attached: len(t.sessions) > 0,
		BrowserContextID: t.page.context,
	}
	if t.isClosing {
		i.Type = "other"
	}
	if t.parent != nil {
		if t.proc.isCrashed {
			i.URL = "" // its document is gone
		}
		i.Title = i.URL
		i.ParentID, i.ParentFrameID = t.parent.id, t.root.parent.id
		return i
	}
	i.Title = t.root.title
	if t.page.isStranded {
		i.URL = ""
	}
	if t.page.opener != "" {
		i.OpenerID, i.OpenerFrameID, i.CanAccessOpener = t.page.opener, t.page.openerFrame, true
	}
	return i
}

type infoParams struct {
	TargetInfo targetInfo `json:"targetInfo"`
}

// tellDiscoverers reports t's information to all who discover targets.
func (b *Browser) tellDiscoverers(method string, t *target) {
	params := infoParams{b.info(t)}
	b.sessions(func(s *session) {
		if s.isDiscovering && !slices.Contains(t.untold, s) {
			s.send(method, params)
		}
	})
}

// tellNavigated reports a new address: to those who have t through
// auto-attach, and to those who discover.
func (b *Browser) tellNavigated(t *target) {
	params := infoParams{b.info(t)}
	told := map[*session]bool{}
	for _, s := range t.sessions {
		if s.isAuto && !told[s.owner] {
			told[s.owner] = true
			s.owner.send("Target.targetInfoChanged", params)
		}
	}
	b.sessions(func(s *session) {
		if s.isDiscovering && !told[s] {
			s.send("Target.targetInfoChanged", params)
		}
	})
}

// addTarget announces a new target and attaches it to those who want it, one
// session after the other: a later one hears of it as attached already.
// starting is true for a target that has yet to run its first script.
func (b *Browser) addTarget(t *target, starting bool) {
	b.targets = append(b.targets, t)
	b.sessions(func(s *session) {
		if s.isDiscovering {
			t.untold = append(t.untold, s)
		}
	})
	b.sessions(func(s *session) {
		if i := slices.Index(t.untold, s); i >= 0 {
			t.untold = slices.Delete(t.untold, i, i+1)
			s.send("Target.targetCreated", infoParams{b.info(t)})
		}
		if s.auto.wants(t.kind) && !b.isAttachedBy(s, t) && s.canSee(t) {
			held := b.attach(s, t, true, starting && s.auto.mustWait)
			// A popup is held also by a client that asks for no waiting, which is told that
			// it does not wait (C33).
			if starting && !s.auto.mustWait && t.parent == nil && t.page.opener != "" {
				t.waiting = append(t.waiting, held)
			}
		}
	})
}

// removeTarget ends t and its sessions. See [Browser.detach] for announceFirst.
func (b *Browser) removeTarget(t *target, announceFirst bool) {
	b.detachAll(t, announceFirst)
	b.destroyTarget(t)
}

func (b *Browser) detachAll(t *target, announceFirst bool) {
	b.endPause(t, ClosedByNavigation)
	for _, s := range slices.Clone(t.sessions) {
		b.detach(s, announceFirst)
	}
}

func (b *Browser) destroyTarget(t *target) {
	b.targets = slices.DeleteFunc(b.targets, func(x *target) bool { return x == t })
	b.sessions(func(s *session) {
		if s.isDiscovering {
			s.send("Target.targetDestroyed", targetIDParams{t.id})
		}
	})
}

type targetIDParams struct {
	TargetID messages.TargetID `json:"targetId"`
}

// each sends an event to those of t's sessions that wants holds for.
func (t *target) each(wants func(*session) bool, method string, params any) {
	for _, s := range t.sessions {
		if wants(s) {
			s.send(method, params)
		}
	}
}

func isPageInBrowser(s *session) bool  { return s.isPageInBrowser }
func isPageInRenderer(s *session) bool { return s.isPageInRenderer }
func isRuntimeOn(s *session) bool      { return s.isRuntimeOn }
func isInspectorOn(s *session) bool    { return s.isInspectorOn }
func isLifecycleOn(s *session) bool    { return s.isLifecycleOn }
