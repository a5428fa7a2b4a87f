package link

import (
	"fmt"
	"time"

	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// autoAttachPages reports every page that exists and comes; hold makes new ones
// wait until they are told to run.
func autoAttachPages(tag effect.TagKind, hold bool) effect.Command {
	return effect.OnBrowser(effect.Tag{Kind: tag}, "Target.setAutoAttach", struct {
		AutoAttach bool           `json:"autoAttach"`
		Hold       bool           `json:"waitForDebuggerOnStart"`
		Flatten    bool           `json:"flatten"`
		Filter     []targetFilter `json:"filter"`
	}{true, hold, true, pagesOnly}, 0)
}

// attach has every page that exists and comes reported, and held if it is new.
func (c *core) attach() {
	c.do(autoAttachPages(TagRoot, true))
	c.setTimer(timerAttach, effect.AttachBudget)
}

// refused is the end of a link whose browser does not attach it to its pages.
func refused(err error) error { return fmt.Errorf("the browser refused to auto-attach: %w", err) }

// unanswered is the end of a link whose browser does not answer its attach in time.
func unanswered() error {
	return messages.Errorf(messages.CodeDeadline, "the browser did not answer the attach within %s", effect.AttachBudget)
}

// beginLeaving has the browser hold no page any more. What it has attached up to its reply
// is resumed and left as it is reported; then flush says when the browser has heard so.
func (c *core) beginLeaving(budget time.Duration) {
	c.isLeaving = true
	c.setTimer(timerLeave, budget)
	c.do(autoAttachPages(TagCalm, false))
}

// flush asks the browser for something that it answers once it has heard all before.
func (c *core) flush() { c.root(effect.Tag{Kind: TagFlushed}, "Browser.getVersion", struct{}{}, 0) }

// last is the last that an orderly end does.
type last struct {
	isBegun   bool
	isOff     bool // the browser holds no new page any more
	late      []mail.TargetInfo
	toConfirm int // attaches without a reply
}

// stopAttaching turns auto-attach off, and ends the link then. Auto-attach holds popups for as
// long as it is on, also where it is told to hold none. A popup that is held when the link ends
// stays frozen, and its opener with it, also one of another client (C33).
func (c *core) stopAttaching() {
	if c.last.isBegun {
		return
	}
	c.last.isBegun = true
	c.root(effect.Tag{Kind: TagOff}, "Target.setAutoAttach", struct {
		AutoAttach bool `json:"autoAttach"`
		Hold       bool `json:"waitForDebuggerOnStart"`
		Flatten    bool `json:"flatten"`
	}{Flatten: true}, 0)
}

// heldLate takes a page that is reported behind stopAttaching. Until the browser replies the
// session ends with auto-attach, and the page stays held; afterwards the session is one that
// was asked for, to resume the page.
func (c *core) heldLate(a mail.TargetAttached) {
	if !c.last.isOff {
		c.last.late = append(c.last.late, a.Info)
		return
	}
	c.do(effect.Command{Session: a.Session, Tag: effect.Tag{Kind: effect.TagNone}, Method: effect.Resume})
	c.do(detachFrom(effect.Tag{Kind: effect.TagNone}, a.Session))
}

// endReplied follows the steps of the end: off, attached to what was held late, heard.
func (c *core) endReplied(r effect.Replied) {
	switch r.Tag.Kind {
	case TagOff:
		c.last.isOff = true
		for _, t := range c.last.late {
			c.attachLate(t.ID)
		}
	case TagLate:
		c.last.toConfirm--
		if r.Err != nil {
			c.resumeOpener(r.Tag.Page)
		}
	case TagHeard:
		c.do(effect.Exit{})
		return
	}
	switch {
	case c.last.toConfirm > 0:
	case len(c.last.late) > 0:
		c.root(effect.Tag{Kind: TagHeard}, "Browser.getVersion", struct{}{}, 0)
	default:
		c.do(effect.Exit{})
	}
}

// resumeOpener stands in for a popup that has ended while it was held: its opener is frozen
// until it is resumed itself (C33).
func (c *core) resumeOpener(popup messages.TargetID) {
	for _, t := range c.last.late {
		if t.ID == popup && t.Opener != "" {
			c.attachLate(t.Opener)
		}
	}
}

func (c *core) attachLate(t messages.TargetID) {
	c.last.toConfirm++
	c.root(effect.Tag{Kind: TagLate, Page: t}, "Target.attachToTarget", attachParams{TargetID: t, Flatten: true}, 0)
}
