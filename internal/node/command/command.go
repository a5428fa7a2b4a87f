package command

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"holdfast/actors/session"
	"holdfast/actors/supervisor/admit"
	"holdfast/actors/supervisor/view"
	"holdfast/internal/rawcdp"
	"holdfast/messages"
	"holdfast/messages/mail"
	"holdfast/transport/quirks"
)

// Host is the node that commands run on. Its functions are safe for concurrent use.
type Host struct {
	// Order gives a task's supervisor the message that carries the call, and waits for its answer,
	// ctx or the end of the task.
	Order func(ctx context.Context, b *view.Board, v *view.View, message func(mail.Call) any) (any, error)
	// Respond answers a dialog and waits until it is closed.
	Respond func(context.Context, messages.TaskID, messages.DialogAnswer) (messages.ClosedDialog, error)
	// Boards are those of every task of the node.
	Boards func() iter.Seq2[messages.TaskID, *view.Board]
}

// Command is one raw CDP command of a task, as the task was when the command came.
type Command struct {
	Host    *Host
	Task    messages.TaskID
	Board   *view.Board
	View    *view.View
	Request messages.CDPRequest
}

// HeldBack is why a command was not sent that waits for a dialog to be answered.
type HeldBack struct{ Why error }

func (h *HeldBack) Error() string { return h.Why.Error() }

// answerBudget bounds a question to the browser that a command needs answered (requirement
// A10).
const answerBudget = 10 * time.Second

// Run runs the command and returns Chrome's result untouched. Whatever waits in it has the request's timeout as its
// own: the link keeps that of a command, and needs no context for it.
func (c Command) Run(ctx context.Context) (json.RawMessage, error) {
	m := c.Request.Method
	ruling, err := rawcdp.Judge(m, c.Request.Params, rawcdp.Caller{
		IsScoped: messages.CallerOf(ctx).IsScoped, IsShared: c.View.Scope != messages.ScopeBrowser, Context: c.View.Context, Downloads: c.View.Downloads,
	})
	if err != nil {
		return nil, err
	}
	if m == lifecycleMethod && !doesKeepLifecycle(c.Request.Params) {
		return nil, messages.Errorf(messages.CodeForbidden, "%s is available with {\"enabled\": true} only: navigations could not tell any more when a page has loaded", m)
	}
	c.Request.Params = ruling.Params
	if by, ok := own[m]; ok {
		ctx, cancel := context.WithTimeout(ctx, c.Request.Timeout())
		defer cancel()
		return by(c, ctx)
	}
	if err := c.checkNamed(ctx, ruling); err != nil {
		return nil, err
	}
	if rawcdp.IsBrowserLevel(m) && c.Request.FrameID == "" && c.Request.TargetID == "" {
		return c.onBrowser(ctx)
	}
	if c.View.Context != "" && ruling.Decision == rawcdp.Confined && !rawcdp.IsBrowserLevel(m) {
		// On a page's session these reach the browser's default context, whichever the page is in (C68).
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
func (c Command) checkNamed(ctx context.Context, r rawcdp.Ruling) error {
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

func (c Command) onBrowser(ctx context.Context) (json.RawMessage, error) {
	if c.View.Browser == nil {
		return nil, notConnected()
	}
	return c.View.Browser.Call(ctx, c.Request.Method, c.Request.Params, c.Request.Timeout())
}

func notConnected() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").WithSent(messages.SentNo)
}

// on runs the command on a session, and says afterwards what kept it.
func (c Command) on(ctx context.Context, s view.Session) (json.RawMessage, error) {
	waits := c.Request.OnDialog == messages.OnDialogWait
	if err := admit.Command(known(s), c.Request.Method).Error(); err != nil {
		if waits && messages.CodeOf(err) == messages.CodeBlockedByDialog {
			return nil, &HeldBack{err}
		}
		return nil, err
	}
	params, err := c.withBreaks()
	if err != nil {
		return nil, err
	}
	call := session.AgentCall{Method: c.Request.Method, Params: params, Timeout: c.Request.Timeout(), AwaitsDialog: waits}
	result, err := s.Port.Do(ctx, call)
	if err == nil {
		if quirks.DisarmsBridge(c.Request.Method) {
			s.Port.Rearm(ctx, c.Request.Method)
		}
		return result, nil
	}
	switch {
	case messages.CodeOf(err) == messages.CodeDeadline:
		// By now the cause of the missing reply may be known.
		if now, ok := c.Board.View().Sessions.Get(s.Port.Session); ok {
			if why := admit.Condition(known(now)); why != nil {
				return nil, why
			}
			if ctx.Err() == nil { // else it is the caller that did not wait
				return nil, c.latePause(c.Board.View(), now, err)
			}
		}
	case quirks.Classify(err) == quirks.SessionGone:
		return nil, c.gone(s)
	case len(c.Request.Params) == 0 && quirks.Classify(err) == quirks.ParametersMissing:
		return nil, &messages.Error{Code: messages.CodeCDPError, Message: c.Request.Method + " wants parameters; give them as params", Details: detailsOf(err)}
	}
	return nil, err
}

// known is what is known of a session, with a verdict of silence taken back that is older
// than the renderer's last answer.
func known(s view.Session) admit.Known {
	if s.Port.HasLivedSince(s.Since) {
		return s.Known.Answered()
	}
	return s.Known
}
