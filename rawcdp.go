package holdfast

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"holdfast/actors/session"
	"holdfast/actors/supervisor"
	"holdfast/messages"
)

// rawCall is one raw CDP command on its way to the right session.
type rawCall struct {
	node  *Node
	id    messages.TaskID
	board *supervisor.Board
	view  *supervisor.View
	req   messages.CDPRequest
}

type targetParam struct {
	TargetID messages.TargetID `json:"targetId"`
}

// kept are the commands by which a caller would take the task out of
// Holdfast's hands, and why not.
var kept = map[string]string{
	"Target.setAutoAttach":          "attaching is the supervisor's work",
	"Target.autoAttachRelated":      "attaching is the supervisor's work",
	"Target.attachToTarget":         "attaching is the supervisor's work; name a page by target_id or a frame by frame_id",
	"Target.attachToBrowserTarget":  "attaching is the supervisor's work",
	"Target.detachFromTarget":       "attaching is the supervisor's work",
	"Target.setDiscoverTargets":     "discovery is the supervisor's work; the snapshot lists the pages",
	"Target.sendMessageToTarget":    "it would go around the supervisor",
	"Target.exposeDevToolsProtocol": "it would hand the browser to the page",
	"Page.disable":                  "dialogs would become unanswerable",
	"Runtime.disable":               "console errors would be lost",
	"Inspector.disable":             "crashes would go unseen",
}

// ofOthers are the commands that reach into other tasks' pages where a browser
// is shared.
var ofOthers = map[string]bool{
	"Browser.close": true, "Browser.crash": true, "Browser.crashGpuProcess": true,
	"Target.disposeBrowserContext": true,
}

// own are the commands that are ours to carry out.
var own = map[string]func(rawCall, context.Context) (json.RawMessage, error){
	"Page.handleJavaScriptDialog": rawCall.answerDialog,
	"Target.createTarget":         rawCall.createTarget,
	"Target.closeTarget":          rawCall.closeTarget,
	"Target.getTargets":           rawCall.getTargets,
}

// run runs the command. Whatever waits in it has the request's timeout as its
// own: the link keeps that of a command, and needs no context for it.
func (c rawCall) run(ctx context.Context) (json.RawMessage, error) {
	m := c.req.Method
	if why, ok := kept[m]; ok {
		return nil, messages.Errorf(messages.CodeForbidden, "%s is not available: %s", m, why)
	}
	if ofOthers[m] && c.view.Scope != messages.ScopeBrowser {
		return nil, messages.Errorf(messages.CodeForbidden, "%s would reach beyond the task: it shares the browser", m)
	}
	if by, ok := own[m]; ok {
		ctx, cancel := context.WithTimeout(ctx, c.req.Timeout())
		defer cancel()
		return by(c, ctx)
	}
	if domain, _, _ := strings.Cut(m, "."); browserDomains[domain] {
		if err := c.checkParams(ctx); err != nil {
			return nil, err
		}
		if c.req.FrameID == "" && c.req.TargetID == "" {
			return c.onBrowser(ctx)
		}
	}
	s, err := c.session(ctx)
	if err != nil {
		return nil, err
	}
	return c.on(ctx, s)
}

// browserDomains are those that only the browser's own session knows whole.
var browserDomains = map[string]bool{"Browser": true, "Target": true, "SystemInfo": true, "Tethering": true}

func (c rawCall) onBrowser(ctx context.Context) (json.RawMessage, error) {
	if c.view.Browser == nil {
		return nil, notConnected()
	}
	return c.view.Browser.Call(ctx, c.req.Method, c.req.Params, c.req.Timeout())
}

// checkParams refuses a command whose parameters name a target of somebody
// else's, whichever session it is for.
func (c rawCall) checkParams(ctx context.Context) error {
	var p targetParam
	if json.Unmarshal(orObject(c.req.Params), &p) != nil || p.TargetID == "" {
		return nil
	}
	return c.ownTarget(ctx, p.TargetID)
}

func notConnected() *messages.Error {
	return messages.Errorf(messages.CodeUpstreamUnavailable, "the browser is not connected").With("sent", false)
}

// on runs the command on a session, and says afterwards what kept it.
func (c rawCall) on(ctx context.Context, s supervisor.Session) (json.RawMessage, error) {
	if err := admit(s, c.req.Method); err != nil {
		return nil, err
	}
	result, err := s.Port.Call(ctx, c.req.Method, c.req.Params, c.req.Timeout())
	if err == nil {
		if session.DisarmsBridge(c.req.Method) {
			s.Port.Rearm(ctx, c.req.Method)
		}
		return result, nil
	}
	switch {
	case messages.CodeOf(err) == messages.CodeDeadline:
		// By now it may be known why nobody answered, whatever the method.
		if now, ok := c.board.View().Sessions.Get(s.Port.Session); ok {
			if why := condition(now); why != nil {
				return nil, why
			}
		}
	case isSessionGone(err):
		return nil, c.gone(s)
	}
	return nil, err
}

// gone tells a session that has ended from what it was on: a page that is
// being freed, or attached to anew, is there all the same.
func (c rawCall) gone(s supervisor.Session) error {
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
		return messages.Errorf(messages.CodeUpstreamUnavailable, "the page is being attached to anew; the command was not run").With("sent", false)
	case c.req.FrameID != "":
		return messages.Errorf(messages.CodeFrameNotFound, "frame %s is gone", c.req.FrameID)
	}
	return messages.Errorf(messages.CodeTargetNotFound, "the page is gone")
}

// isSessionGone recognises Chrome's -32001 (C56).
func isSessionGone(err error) bool {
	return messages.CodeOf(err) == messages.CodeCDPError && strings.Contains(err.Error(), "Session with given id not found")
}

// session finds the session that frame_id or target_id means, or that of the
// current page.
func (c rawCall) session(ctx context.Context) (supervisor.Session, error) {
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
			return supervisor.Session{}, err
		}
		return supervisor.Session{}, notConnected() // ours, but not attached at the moment
	}
	current := c.view.Snapshot.PageTargetID
	for _, s := range c.view.Sessions.All() {
		if s.Target == current {
			return s, nil
		}
	}
	if current == "" && c.view.Snapshot.Connection.Primary == messages.LinkUp {
		return supervisor.Session{}, messages.Errorf(messages.CodeTargetNotFound, "the task has no page; open one with Target.createTarget")
	}
	return supervisor.Session{}, notConnected()
}

// frameSession never falls back to a parent: a command for a frame that has no
// session of its own is an error, not a command for another frame (F10).
func (c rawCall) frameSession() (supervisor.Session, error) {
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
			return supervisor.Session{}, notConnected()
		}
		for _, n := range t.Children {
			switch {
			case n.FrameID != f:
			case n.IsOOPIF:
				return supervisor.Session{}, messages.Errorf(messages.CodeUpstreamUnavailable, "frame %s is not attached at the moment", f).With("sent", false)
			default:
				return supervisor.Session{}, messages.Errorf(messages.CodeFrameNotOOPIF,
					"frame %s lives in its parent's process; reach it from there, in script through the iframe element's contentDocument", f).
					With("parent_frame_id", n.ParentFrameID)
			}
		}
	}
	return supervisor.Session{}, messages.Errorf(messages.CodeFrameNotFound, "the task has no frame %s", f)
}

// answerDialog gives a raw Page.handleJavaScriptDialog to the dialog actor:
// however an answer comes, exactly one counts.
func (c rawCall) answerDialog(ctx context.Context) (json.RawMessage, error) {
	var p struct {
		Accept *bool   `json:"accept"`
		Text   *string `json:"promptText"`
	}
	if err := messages.DecodeStrict(bytes.NewReader(orObject(c.req.Params)), &p); err != nil {
		return nil, err
	}
	if p.Accept == nil {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "accept is missing")
	}
	a := messages.DialogAnswer{Action: messages.ActionDismiss, PromptText: p.Text}
	if *p.Accept {
		a.Action = messages.ActionAccept
	}
	page := c.req.TargetID
	if page == "" {
		page = c.view.Snapshot.PageTargetID
	} else if err := c.node.checkPage(ctx, c.view, page); err != nil {
		return nil, err
	}
	for _, d := range c.view.Snapshot.PendingDialogs {
		if c.req.FrameID != "" && d.FrameID == c.req.FrameID || c.req.FrameID == "" && d.TargetID == page {
			a.DialogID = d.ID
		}
	}
	if a.DialogID == "" {
		// Not "the only one there is": that may be another page's.
		return nil, messages.Errorf(messages.CodeNoDialog, "no dialog is open there")
	}
	if _, err := c.node.Respond(ctx, c.id, a); err != nil {
		return nil, err
	}
	return json.RawMessage(`{}`), nil
}

// createTarget opens the page in the background and lets it load only once it
// is watched: Chrome would load it at once (C30), and in front.
func (c rawCall) createTarget(ctx context.Context) (json.RawMessage, error) {
	var p struct {
		URL        string `json:"url"`
		NewWindow  bool   `json:"newWindow"`
		Background bool   `json:"background"` // always so
	}
	if err := messages.DecodeStrict(bytes.NewReader(orObject(c.req.Params)), &p); err != nil {
		return nil, err
	}
	t, err := c.node.ask(ctx, c.board.Ended(), func(r messages.ReplyTo) {
		c.node.sys.Send(c.view.Supervisor, messages.OpenPage{URL: p.URL, NewWindow: p.NewWindow, Reply: r})
	})
	if err != nil {
		return nil, err
	}
	return mustJSON(targetParam{t.(messages.TargetID)}), nil
}

// closeTarget goes through the supervisor, which knows how to close a page
// without taking the browser along (C15).
func (c rawCall) closeTarget(ctx context.Context) (json.RawMessage, error) {
	var p targetParam
	if err := messages.DecodeStrict(bytes.NewReader(orObject(c.req.Params)), &p); err != nil {
		return nil, err
	}
	if p.TargetID == "" {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "targetId is missing")
	}
	if err := c.node.checkPage(ctx, c.view, p.TargetID); err != nil {
		return nil, err
	}
	_, err := c.node.ask(ctx, c.board.Ended(), func(r messages.ReplyTo) {
		c.node.sys.Send(c.view.Supervisor, messages.ClosePage{Page: p.TargetID, Reply: r})
	})
	if err != nil {
		return nil, err
	}
	return json.RawMessage(`{"success":true}`), nil
}

// chromesOwnFilter is what Chrome takes where none is given, but for the link
// that discovers pages only: there it would take the discovery's.
var chromesOwnFilter = []byte(`{"filter":[{"type":"browser","exclude":true},{"type":"tab","exclude":true},{}]}`)

// getTargets leaves out what is not the task's (demand 12).
func (c rawCall) getTargets(ctx context.Context) (json.RawMessage, error) {
	if c.view.Browser == nil {
		return nil, notConnected()
	}
	params := c.req.Params
	var p struct {
		Filter json.RawMessage `json:"filter"`
	}
	if json.Unmarshal(orObject(params), &p) == nil && p.Filter == nil {
		params = chromesOwnFilter
	}
	result, err := c.view.Browser.Call(ctx, c.req.Method, params, c.req.Timeout())
	if err != nil || c.view.Scope == messages.ScopeBrowser {
		return result, err
	}
	var all struct {
		TargetInfos []json.RawMessage `json:"targetInfos"`
	}
	if err := json.Unmarshal(result, &all); err != nil {
		return nil, messages.Errorf(messages.CodeInternal, "the browser's answer to %s cannot be read", c.req.Method)
	}
	ours := map[messages.TargetID]bool{}
	for _, s := range c.view.Sessions.All() {
		ours[s.Target] = true
	}
	mine := []json.RawMessage{}
	for _, raw := range all.TargetInfos {
		var t targetParam
		if json.Unmarshal(raw, &t) == nil && ours[t.TargetID] {
			mine = append(mine, raw)
		}
	}
	return mustJSON(map[string]any{"targetInfos": mine}), nil
}

// ownTarget refuses a target of somebody else's, pages and frames alike.
func (c rawCall) ownTarget(ctx context.Context, t messages.TargetID) error {
	if c.view.Scope == messages.ScopeBrowser {
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

func orObject(params json.RawMessage) []byte {
	if len(params) == 0 || string(params) == "null" {
		return []byte(`{}`)
	}
	return params
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("holdfast: " + err.Error()) // only strings and raw JSON are ever passed
	}
	return b
}
