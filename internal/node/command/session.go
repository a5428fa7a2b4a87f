package command

import (
	"context"
	"slices"

	"holdfast/actors/supervisor/view"
	"holdfast/messages"
)

// gone tells a session that has ended from what it was on: a page that is
// being freed, or attached to anew, is there all the same.
func (c Command) gone(s view.Session) error {
	now := c.Board.View()
	if c.View = now; c.Request.FrameID != "" {
		if _, err := c.frameSession(); messages.CodeOf(err) == messages.CodeFrameNotOOPIF {
			return err // it lives in its parent's process by now
		}
	}
	is := func(n messages.FrameNode) bool { return messages.TargetID(n.FrameID) == s.Target }
	switch tree := now.Trees.At(s.Page); {
	case s.Port.IsPage && slices.ContainsFunc(now.Snapshot.Pages, func(p messages.Page) bool { return p.TargetID == s.Target }),
		!s.Port.IsPage && tree != nil && slices.ContainsFunc(tree.Children, is):
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the page is being attached to anew; the command was not run").WithSent(messages.SentNo)
	case c.Request.FrameID != "":
		return messages.Errorf(messages.CodeFrameNotFound, "frame %s is gone", c.Request.FrameID)
	}
	return messages.Errorf(messages.CodeTargetNotFound, "the page is gone")
}

// session finds the session that frame_id or target_id means, or that of the
// current page.
func (c Command) session(ctx context.Context) (view.Session, error) {
	switch {
	case c.Request.FrameID != "":
		return c.frameSession()
	case c.Request.TargetID != "":
		for _, s := range c.View.Sessions.All() {
			if s.Target == c.Request.TargetID {
				return s, nil
			}
		}
		if err := c.checkPage(ctx, c.Request.TargetID); err != nil {
			return view.Session{}, err
		}
		return view.Session{}, notConnected() // ours, but not attached at the moment
	}
	current := c.View.Snapshot.PageTargetID
	for _, s := range c.View.Sessions.All() {
		if s.Target == current {
			return s, nil
		}
	}
	if current == "" && c.View.Snapshot.Connection.Primary == messages.LinkUp {
		return view.Session{}, messages.Errorf(messages.CodeTargetNotFound, "the task has no page; navigate opens one, and so does Target.createTarget")
	}
	return view.Session{}, notConnected()
}

// frameSession never falls back to a parent: a command for a frame that has no
// session of its own is an error, not a command for another frame (F10).
func (c Command) frameSession() (view.Session, error) {
	f := c.Request.FrameID
	for _, s := range c.View.Sessions.All() {
		if messages.FrameID(s.Target) == f && (c.Request.TargetID == "" || c.Request.TargetID == s.Page) {
			return s, nil
		}
	}
	for page, t := range c.View.Trees.All() {
		if c.Request.TargetID != "" && c.Request.TargetID != page {
			continue
		}
		if t.Top.FrameID == f {
			return view.Session{}, notConnected()
		}
		for _, n := range t.Children {
			switch {
			case n.FrameID != f:
			case n.IsOOPIF:
				return view.Session{}, messages.Errorf(messages.CodeUpstreamUnavailable, "frame %s is not attached at the moment", f).WithSent(messages.SentNo)
			default:
				return view.Session{}, messages.Errorf(messages.CodeFrameNotOOPIF,
					"frame %s lives in its parent's process; reach it from there, in script through the iframe element's contentDocument", f).
					With("parent_frame_id", n.ParentFrameID)
			}
		}
	}
	return view.Session{}, messages.Errorf(messages.CodeFrameNotFound, "the task has no frame %s", f)
}
