package command

import (
	"bytes"
	"context"
	"encoding/json"

	"holdfast/messages"
	"holdfast/messages/mail"
)

// own are the commands that are ours to carry out.
var own = map[string]func(Command, context.Context) (json.RawMessage, error){
	"Page.close":                  Command.closePage,
	"Page.handleJavaScriptDialog": Command.answerDialog,
	"Target.createTarget":         Command.createTarget,
	"Target.closeTarget":          Command.closeTarget,
	"Target.getTargets":           Command.getTargets,
}

// answerDialog gives a raw Page.handleJavaScriptDialog to the dialog actor:
// however an answer comes, exactly one counts. Over the bridge a page's frames may
// ask several at once (M7), and Chrome's command names none of them.
func (c Command) answerDialog(ctx context.Context) (json.RawMessage, error) {
	var p struct {
		Accept *bool   `json:"accept"`
		Text   *string `json:"promptText"`
	}
	if err := messages.DecodeStrict(bytes.NewReader(orObject(c.Request.Params)), &p); err != nil {
		return nil, err
	}
	if p.Accept == nil {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "accept is missing")
	}
	a := messages.DialogAnswer{Action: messages.ActionDismiss, PromptText: p.Text}
	if *p.Accept {
		a.Action = messages.ActionAccept
	}
	page := c.Request.TargetID
	if page == "" {
		page = c.View.Snapshot.PageTargetID
	} else if err := CheckPage(ctx, c.View, page); err != nil {
		return nil, err
	}
	candidates := []messages.Dialog{}
	for _, d := range c.View.Snapshot.PendingDialogs {
		if c.Request.FrameID != "" && d.FrameID == c.Request.FrameID || c.Request.FrameID == "" && d.TargetID == page {
			candidates = append(candidates, d)
		}
	}
	switch len(candidates) {
	case 0:
		// Not "the only one there is": that may be another page's.
		return nil, messages.Errorf(messages.CodeNoDialog, "no dialog is open there")
	case 1:
		a.DialogID = candidates[0].ID
	default:
		return nil, messages.Errorf(messages.CodeDialogAmbiguous, "%d dialogs are open there; name the frame of one by frame_id, or the dialog itself by POST /dialog", len(candidates)).
			With("candidates", candidates)
	}
	if _, err := c.Host.Respond(ctx, c.Task, a); err != nil {
		return nil, err
	}
	return json.RawMessage(`{}`), nil
}

// createTarget opens the page in the background and lets it load only once it
// is watched: Chrome would load it at once (C30), and in front.
func (c Command) createTarget(ctx context.Context) (json.RawMessage, error) {
	var p struct {
		URL        string `json:"url"`
		NewWindow  bool   `json:"newWindow"`
		Background bool   `json:"background"` // always so
		Context    string `json:"browserContextId"`
	}
	if err := messages.DecodeStrict(bytes.NewReader(orObject(c.Request.Params)), &p); err != nil {
		return nil, err
	}
	if p.Context != "" && p.Context != c.View.Context {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "browserContextId: pages of a task are made in its own browser context")
	}
	t, err := c.Host.Order(ctx, c.Board, c.View, func(r mail.Call) any {
		return mail.OpenPage{URL: p.URL, IsNewWindow: p.NewWindow, Reply: r}
	})
	if err != nil {
		return nil, err
	}
	return mustJSON(targetParam{t.(messages.TargetID)}), nil
}

// closeTarget goes through the supervisor, which knows how to close a page
// without taking the browser along (C15).
func (c Command) closeTarget(ctx context.Context) (json.RawMessage, error) {
	var p targetParam
	if err := messages.DecodeStrict(bytes.NewReader(orObject(c.Request.Params)), &p); err != nil {
		return nil, err
	}
	if p.TargetID == "" {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "targetId is missing")
	}
	if err := CheckPage(ctx, c.View, p.TargetID); err != nil {
		return nil, err
	}
	if err := c.shut(ctx, p.TargetID); err != nil {
		return nil, err
	}
	return json.RawMessage(`{"success":true}`), nil
}

// closePage closes the session's page as closeTarget does: under the dialog of a frame
// Chrome's own Page.close ends the browser (C60).
func (c Command) closePage(ctx context.Context) (json.RawMessage, error) {
	if err := messages.DecodeStrict(bytes.NewReader(orObject(c.Request.Params)), &struct{}{}); err != nil {
		return nil, err
	}
	s, err := c.session(ctx)
	if err != nil {
		return nil, err
	}
	if s.Target != s.Page {
		return nil, messages.Errorf(messages.CodeInvalidArgument, "Page.close closes a page, and frame_id names a frame of one")
	}
	if err := c.shut(ctx, s.Page); err != nil {
		return nil, err
	}
	return json.RawMessage(`{}`), nil
}

// shut has a page closed in the order that its dialogs allow.
func (c Command) shut(ctx context.Context, t messages.TargetID) error {
	_, err := c.Host.Order(ctx, c.Board, c.View, func(r mail.Call) any {
		return mail.ClosePage{Page: t, Reply: r}
	})
	return err
}

// chromesOwnFilter is what Chrome takes where none is given, but for the link
// that discovers pages only: there it would take the discovery's.
var chromesOwnFilter = []byte(`{"filter":[{"type":"browser","exclude":true},{"type":"tab","exclude":true},{}]}`)

// getTargets leaves out what is not the task's (demand 12).
func (c Command) getTargets(ctx context.Context) (json.RawMessage, error) {
	if c.View.Browser == nil {
		return nil, notConnected()
	}
	params := c.Request.Params
	var p struct {
		Filter json.RawMessage `json:"filter"`
	}
	if json.Unmarshal(orObject(params), &p) == nil && p.Filter == nil {
		params = chromesOwnFilter
	}
	result, err := c.View.Browser.Call(ctx, c.Request.Method, params, c.Request.Timeout())
	if err != nil || c.hasAll(ctx) {
		return result, err
	}
	var all struct {
		TargetInfos []json.RawMessage `json:"targetInfos"`
	}
	if err := json.Unmarshal(result, &all); err != nil {
		return nil, messages.Errorf(messages.CodeInternal, "the browser's answer to %s cannot be read", c.Request.Method)
	}
	ours := map[messages.TargetID]bool{}
	for _, s := range c.View.Sessions.All() {
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
