package node

import (
	"context"
	"encoding/json"
	"slices"

	"holdfast/actors/session"
	"holdfast/actors/supervisor/admit"
	"holdfast/actors/supervisor/view"
	"holdfast/internal/rawcdp"
	"holdfast/messages"
	"holdfast/transport/quirks"
)

// rawCall is one raw CDP command with the session it is for.
type rawCall struct {
	node  *Node
	id    messages.TaskID
	board *view.Board
	view  *view.View
	req   messages.CDPRequest
}

type targetParam struct {
	TargetID messages.TargetID `json:"targetId"`
}

// run runs the command. Whatever waits in it has the request's timeout as its
// own: the link keeps that of a command, and needs no context for it.
func (c rawCall) run(ctx context.Context) (json.RawMessage, error) {
	m := c.req.Method
	ruling, err := rawcdp.Judge(m, c.req.Params, rawcdp.Caller{
		IsScoped: messages.CallerOf(ctx).IsScoped, SharesBrowser: c.view.Scope != messages.ScopeBrowser, Context: c.view.Context, Downloads: c.view.Downloads,
	})
	if err != nil {
		return nil, err
	}
	if m == lifecycleMethod && !keepsLifecycle(c.req.Params) {
		return nil, messages.Errorf(messages.CodeForbidden, "%s is available with {\"enabled\": true} only: navigations could not tell any more when a page has loaded", m)
	}
	c.req.Params = ruling.Params
	if by, ok := own[m]; ok {
		ctx, cancel := context.WithTimeout(ctx, c.req.Timeout())
		defer cancel()
		return by(c, ctx)
	}
	if err := c.checkNamed(ctx, ruling); err != nil {
		return nil, err
	}
	if rawcdp.IsBrowserLevel(m) && c.req.FrameID == "" && c.req.TargetID == "" {
		return c.onBrowser(ctx)
	}
	s, err := c.session(ctx)
	if err != nil {
		return nil, err
	}
	return c.on(ctx, s)
}

// checkNamed refuses a command that names a target or a window that is not the
// task's, whichever session it is for.
func (c rawCall) checkNamed(ctx context.Context, r rawcdp.Ruling) error {
	if r.Target != "" {
		if err := c.ownTarget(ctx, r.Target); err != nil {
			return err
		}
	}
	if r.HasWindow && !c.hasAll(ctx) {
		return c.ownWindow(r.Window)
	}
	return nil
}

// ownWindow refuses a window that holds no page of the task.
func (c rawCall) ownWindow(window int64) error {
	if c.view.Browser == nil {
		return notConnected()
	}
	for _, p := range c.view.Snapshot.Pages {
		raw, err := c.view.Browser.Call(context.Background(), "Browser.getWindowForTarget", mustJSON(targetParam{p.TargetID}), answerBudget)
		if messages.CodeOf(err) == messages.CodeCDPError {
			continue // closed meanwhile, or without a window
		}
		if err != nil {
			return err
		}
		var w struct {
			ID *int64 `json:"windowId"`
		}
		if json.Unmarshal(raw, &w) == nil && w.ID != nil && *w.ID == window {
			return nil
		}
	}
	return messages.Errorf(messages.CodeTargetForeign, "window %d holds no page of this task", window)
}

func (c rawCall) onBrowser(ctx context.Context) (json.RawMessage, error) {
	if c.view.Browser == nil {
		return nil, notConnected()
	}
	return c.view.Browser.Call(ctx, c.req.Method, c.req.Params, c.req.Timeout())
}

func notConnected() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").WithSent(messages.SentNo)
}

// on runs the command on a session, and says afterwards what kept it.
func (c rawCall) on(ctx context.Context, s view.Session) (json.RawMessage, error) {
	waits := c.req.OnDialog == messages.OnDialogWait
	if err := admit.Command(known(s), c.req.Method).Error(); err != nil {
		if waits && messages.CodeOf(err) == messages.CodeBlockedByDialog {
			return nil, &heldBack{err}
		}
		return nil, err
	}
	params, err := c.withBreaks()
	if err != nil {
		return nil, err
	}
	call := session.AgentCall{Method: c.req.Method, Params: params, Timeout: c.req.Timeout(), AwaitsDialog: waits}
	result, err := s.Port.Do(ctx, call)
	if err == nil {
		if quirks.DisarmsBridge(c.req.Method) {
			s.Port.Rearm(ctx, c.req.Method)
		}
		return result, nil
	}
	switch {
	case messages.CodeOf(err) == messages.CodeDeadline:
		// By now the cause of the missing reply may be known.
		if now, ok := c.board.View().Sessions.Get(s.Port.Session); ok {
			if why := admit.Condition(known(now)); why != nil {
				return nil, why
			}
			if ctx.Err() == nil { // else it is the caller that did not wait
				return nil, c.latePause(c.board.View(), now, err)
			}
		}
	case quirks.Classify(err) == quirks.SessionGone:
		return nil, c.gone(s)
	case len(c.req.Params) == 0 && quirks.Classify(err) == quirks.ParametersMissing:
		return nil, &messages.Error{Code: messages.CodeCDPError, Message: c.req.Method + " wants parameters; give them as params", Details: detailsOf(err)}
	}
	return nil, err
}

// gone tells a session that has ended from what it was on: a page that is
// being freed, or attached to anew, is there all the same.
func (c rawCall) gone(s view.Session) error {
	now := c.board.View()
	if c.view = now; c.req.FrameID != "" {
		if _, err := c.frameSession(); messages.CodeOf(err) == messages.CodeFrameNotOOPIF {
			return err // it lives in its parent's process by now
		}
	}
	is := func(n messages.FrameNode) bool { return messages.TargetID(n.FrameID) == s.Target }
	switch tree := now.Trees.At(s.Page); {
	case s.Port.IsPage && slices.ContainsFunc(now.Snapshot.Pages, func(p messages.Page) bool { return p.TargetID == s.Target }),
		!s.Port.IsPage && tree != nil && slices.ContainsFunc(tree.Children, is):
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the page is being attached to anew; the command was not run").WithSent(messages.SentNo)
	case c.req.FrameID != "":
		return messages.Errorf(messages.CodeFrameNotFound, "frame %s is gone", c.req.FrameID)
	}
	return messages.Errorf(messages.CodeTargetNotFound, "the page is gone")
}

// session finds the session that frame_id or target_id means, or that of the
// current page.
func (c rawCall) session(ctx context.Context) (view.Session, error) {
	switch {
	case c.req.FrameID != "":
		return c.frameSession()
	case c.req.TargetID != "":
		for _, s := range c.view.Sessions.All() {
			if s.Target == c.req.TargetID {
				return s, nil
			}
		}
		if err := c.checkPage(ctx, c.req.TargetID); err != nil {
			return view.Session{}, err
		}
		return view.Session{}, notConnected() // ours, but not attached at the moment
	}
	current := c.view.Snapshot.PageTargetID
	for _, s := range c.view.Sessions.All() {
		if s.Target == current {
			return s, nil
		}
	}
	if current == "" && c.view.Snapshot.Connection.Primary == messages.LinkUp {
		return view.Session{}, messages.Errorf(messages.CodeTargetNotFound, "the task has no page; navigate opens one, and so does Target.createTarget")
	}
	return view.Session{}, notConnected()
}

// frameSession never falls back to a parent: a command for a frame that has no
// session of its own is an error, not a command for another frame (F10).
func (c rawCall) frameSession() (view.Session, error) {
	f := c.req.FrameID
	for _, s := range c.view.Sessions.All() {
		if messages.FrameID(s.Target) == f && (c.req.TargetID == "" || c.req.TargetID == s.Page) {
			return s, nil
		}
	}
	for page, t := range c.view.Trees.All() {
		if c.req.TargetID != "" && c.req.TargetID != page {
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

// ownTarget refuses a target that is not the task's, pages and frames alike.
func (c rawCall) ownTarget(ctx context.Context, t messages.TargetID) error {
	if c.hasAll(ctx) {
		return nil
	}
	for _, s := range c.view.Sessions.All() {
		if s.Target == t {
			return nil
		}
	}
	return c.checkPage(ctx, t)
}

// checkPage is the node's, within the request's timeout.
func (c rawCall) checkPage(ctx context.Context, t messages.TargetID) error {
	ctx, cancel := context.WithTimeout(ctx, c.req.Timeout())
	defer cancel()
	return c.node.checkPage(ctx, c.view, t)
}

// hasAll says whether every target of the browser is the task's. With a token for
// a task or a tenant only what is attached is.
func (c rawCall) hasAll(ctx context.Context) bool {
	return c.view.Scope == messages.ScopeBrowser && !c.view.IsRestricted && !messages.CallerOf(ctx).IsScoped
}
