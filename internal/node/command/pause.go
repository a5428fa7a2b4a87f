package command

import (
	"holdfast/actors/supervisor/view"
	"holdfast/messages"
)

// A page that waits in the debugger (C47) stops the timers of every frame in its renderer,
// and Chrome puts frames of one site into one (C9, C59): script is evaluated there, and
// what awaits a timer is not.

// latePause names the bridged dialog that may have kept a session's call from its answer
// in time; err is the call's deadline. In another task's nothing is told of it.
func (c Command) latePause(v *view.View, s view.Session, err error) error {
	site := siteOf(v, s)
	if site == "" {
		return err
	}
	var own []messages.Dialog
	for _, other := range v.Sessions.All() {
		if siteOf(v, other) == site {
			own = append(own, other.Paused...)
		}
	}
	sent := messages.SentOf(err)
	if len(own) > 0 {
		return messages.Errorf(messages.CodeDeadline, "the browser did not answer in time; a dialog that waits over the bridge may stop the timers of this page or frame, which is of its site: answer it first").
			WithSent(sent).With("pending_dialogs", own)
	}
	if c.isPausedElsewhere(v, site) {
		return messages.Errorf(messages.CodeDeadline, "the browser did not answer in time; another dialog in the browser may stop the timers of this page or frame, which is of its site, until it is answered").
			WithSent(sent).With("page_state", messages.PageBlockedElsewhere)
	}
	return err
}

// isPausedElsewhere reports whether a bridged dialog of another task waits in the same
// browser, in a page or frame of a site. A browser that cannot be told from others has none.
func (c Command) isPausedElsewhere(v *view.View, site string) bool {
	mark := v.Browser.Mark()
	if mark == "" {
		return false
	}
	for task, b := range c.Host.Boards() {
		other := b.View()
		if task == c.Task || other.Browser.Mark() != mark {
			continue
		}
		for _, s := range other.Sessions.All() {
			if len(s.Paused) > 0 && siteOf(other, s) == site {
				return true
			}
		}
	}
	return false
}

// siteOf is the site of what a session runs; "" is not known.
func siteOf(v *view.View, s view.Session) string {
	if tree := v.Trees.At(s.Page); tree != nil {
		if tree.Top.FrameID == messages.FrameID(s.Target) {
			return messages.SiteOf(tree.Top.Origin)
		}
		for _, f := range tree.Children {
			if f.FrameID == messages.FrameID(s.Target) {
				return messages.SiteOf(f.Origin)
			}
		}
	}
	return ""
}
