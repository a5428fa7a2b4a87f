package view

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"

	"holdfast/internal/rawcdp"
	"holdfast/messages"
)

// IsDirect says whether a command on a session of the client's own acts on that page alone,
// and so needs no decision.
func IsDirect(method string) bool {
	return rawcdp.Of(method) == rawcdp.Allow && !rawcdp.IsBrowserLevel(method)
}

// local are the commands that the view answers, or carries out in its own way.
var local = map[string]func(*View, Command){
	"Target.setDiscoverTargets":    (*View).setDiscoverTargets,
	"Target.setAutoAttach":         (*View).setAutoAttachOn,
	"Target.attachToTarget":        (*View).attachToTarget,
	"Target.attachToBrowserTarget": (*View).attachToBrowser,
	"Target.detachFromTarget":      (*View).detachFromTarget,
	"Target.getTargets":            (*View).getTargets,
	"Target.getTargetInfo":         (*View).getTargetInfo,
	"Target.activateTarget":        (*View).onTarget,
	"Target.closeTarget":           (*View).closeTarget,
	"Target.createTarget":          (*View).createTarget,
	"Target.createBrowserContext":  (*View).createBrowserContext,
	"Target.disposeBrowserContext": (*View).disposeBrowserContext,
	"Target.getBrowserContexts":    (*View).getBrowserContexts,
	"Browser.close":                (*View).closeBrowser,
	"Browser.getWindowForTarget":   (*View).getWindowForTarget,
	"Browser.getWindowBounds":      (*View).onWindow,
	"Browser.setWindowBounds":      (*View).onWindow,
	"Browser.setContentsSize":      (*View).onWindow,
	"Browser.setDownloadBehavior":  (*View).setDownloadBehavior,
	"Page.close":                   (*View).closePage,
	"Page.handleJavaScriptDialog":  (*View).handleDialog,
}

// command decides over one command of the client.
func (v *View) command(c Command) {
	s := v.sessions[c.Session]
	if c.Session != "" && s == nil {
		v.refuse(c, SessionGone())
		return
	}
	if v.isBrowser(c.Session) {
		switch Of(c.Method) {
		case "":
			v.refuse(c, noMethod(c.Method))
			return
		case Refused:
			v.refuse(c, &Error{Code: CodeServer, Message: c.Method + " is not available through the gateway: " + reasons[c.Method]})
			return
		case Forwarded:
			c.Params = nil // none of them takes any
			v.forward(c)
			return
		}
	} else if Of(c.Method) == Refused {
		v.refuse(c, &Error{Code: CodeServer, Message: c.Method + " is not available through the gateway: " + reasons[c.Method]})
		return
	}
	if by, ok := local[c.Method]; ok {
		by(v, c)
		return
	}
	v.judge(c)
}

// kept are the commands that raw CDP refuses, since there the session is the supervisor's.
// Here it is the client's own.
var kept = map[string]bool{"Page.disable": true, "Runtime.disable": true, "Inspector.disable": true}

// judge forwards a command as far as raw CDP allows it.
func (v *View) judge(c Command) {
	if kept[c.Method] {
		v.forward(c)
		return
	}
	isBrowser := v.isBrowser(c.Session)
	if isBrowser && rawcdp.Of(c.Method) == rawcdp.Allow && !v.cfg.HasAll {
		// On the browser's own session it acts on the pages of all tasks.
		v.refuse(c, &Error{Code: CodeServer, Message: c.Method + " would reach beyond the task: it shares the browser"})
		return
	}
	r, err := rawcdp.Judge(c.Method, c.Params, v.callerOf(c))
	if err != nil {
		v.refuse(c, refusal(err))
		return
	}
	if r.Target != "" && !v.isOwn(r.Target) {
		v.refuse(c, noTarget())
		return
	}
	context := v.contextOf(c)
	if c.Params = r.Params; isBrowser && context != "" && rawcdp.Of(c.Method) == rawcdp.Context {
		// A page's session knows its context, and the browser's does not.
		if p, err := rawcdp.ReadParams(c.Params); err == nil {
			c.Params = p.With("browserContextId", context).JSON()
		}
	}
	if !isBrowser && context != "" && r.Decision == rawcdp.Confined && !rawcdp.IsBrowserLevel(c.Method) {
		// On a page's session these reach the browser's default context, whichever the page is in (C68).
		v.do(Call{Tag: v.call(call{kind: kindOnBrowser, id: c.ID, session: c.Session}), Method: c.Method, Params: c.Params})
		return
	}
	v.forward(c)
}

// callerOf is the caller with the context that the command names, where that is one of the
// task's clients'.
func (v *View) callerOf(c Command) rawcdp.Caller {
	caller := v.cfg.Caller
	if given := v.contextOf(c); given != "" {
		caller.Context = given
	}
	return caller
}

// contextOf is the context that a command names, where it is the task's, and otherwise the
// task's own.
func (v *View) contextOf(c Command) string {
	p, err := rawcdp.ReadParams(c.Params)
	if err == nil {
		if given := p.ID("browserContextId"); v.contexts[given] {
			return given
		}
	}
	if s := v.sessions[c.Session]; s != nil {
		if t := v.targets[s.target]; t != nil && v.contexts[t.Context] {
			return t.Context
		}
	}
	return v.cfg.Caller.Context
}

func refusal(err error) *Error {
	if own, ok := errors.AsType[*messages.Error](err); ok {
		code := int64(CodeServer)
		if own.Code == messages.CodeInvalidArgument {
			code = CodeParams
		}
		return &Error{Code: code, Message: own.Message}
	}
	return malformed()
}

// setDiscoverTargets emulates it: on the browser, and on a page's session, where chromedp
// sends it.
func (v *View) setDiscoverTargets(c Command) {
	var p struct {
		Discover *bool  `json:"discover"`
		Filter   filter `json:"filter"`
	}
	if json.Unmarshal(c.Params, &p) != nil || p.Discover == nil {
		v.refuse(c, malformed())
		return
	}
	if !*p.Discover {
		delete(v.discover, c.Session)
		v.reply(c, []byte(`{}`))
		return
	}
	d := v.discover[c.Session]
	if d == nil {
		d = &discovery{told: map[messages.TargetID]bool{}}
		v.discover[c.Session] = d
	}
	d.filter = p.Filter
	for _, id := range v.order {
		if !d.told[id] {
			v.tell(c.Session, v.targets[id])
		}
	}
	v.reply(c, []byte(`{}`))
}

// setAutoAttachOn emulates it on the browser alone: on a session of the client's own the
// browser attaches to what belongs to that page.
func (v *View) setAutoAttachOn(c Command) {
	if v.isBrowser(c.Session) {
		v.setAutoAttach(c)
		return
	}
	p, err := rawcdp.ReadParams(c.Params)
	if err != nil {
		v.refuse(c, malformed())
		return
	}
	for _, name := range []string{"targetId", "browserContextId", "openerId", "sessionId"} {
		p = p.Without(name) // it takes none of them
	}
	c.Params = p.JSON()
	v.forward(c)
}

func (v *View) attachToTarget(c Command) {
	var p struct {
		TargetID messages.TargetID `json:"targetId"`
		Flatten  bool              `json:"flatten"`
	}
	switch {
	case json.Unmarshal(c.Params, &p) != nil || p.TargetID == "":
		v.refuse(c, malformed())
	case !v.isOwn(p.TargetID):
		v.refuse(c, noTarget())
	case !p.Flatten:
		v.refuse(c, &Error{Code: CodeParams, Message: "the gateway takes flat sessions only: flatten has to be true"})
	case len(v.sessions) >= MaxSessions:
		v.refuse(c, &Error{Code: CodeServer, Message: "the client has as many sessions as it may"})
	default:
		c.Params = attachParams(p.TargetID)
		v.forward(c)
	}
}

// attachToBrowser gives the client another browser session, whose own the emulated discovery
// and auto-attach are.
func (v *View) attachToBrowser(c Command) {
	switch {
	case !v.isBrowser(c.Session):
		v.refuse(c, &Error{Code: CodeServer, Message: "Not allowed"})
	case len(v.sessions) >= MaxSessions:
		v.refuse(c, &Error{Code: CodeServer, Message: "the client has as many sessions as it may"})
	default:
		c.Params = nil
		v.forward(c)
	}
}

func (v *View) detachFromTarget(c Command) {
	var p struct {
		SessionID messages.SessionID `json:"sessionId"`
	}
	if json.Unmarshal(c.Params, &p) != nil {
		v.refuse(c, malformed())
		return
	}
	s := v.sessions[p.SessionID]
	if s == nil || s.parent != c.Session {
		v.refuse(c, noSession())
		return
	}
	tag := v.call(call{kind: kindPageClose, id: c.ID, session: c.Session})
	v.do(Call{Tag: tag, Session: c.Session, Method: c.Method, Child: p.SessionID})
}

func (v *View) getTargets(c Command) {
	var p struct {
		Filter filter `json:"filter"`
	}
	if len(c.Params) > 0 && json.Unmarshal(c.Params, &p) != nil {
		v.refuse(c, malformed())
		return
	}
	list := []json.RawMessage{}
	for _, id := range v.order {
		if t := v.targets[id]; p.Filter.hasMatch(t) {
			list = append(list, v.info(t))
		}
	}
	raw, _ := json.Marshal(list) // what the browser has written encodes
	v.reply(c, member("targetInfos", raw))
}

func (v *View) getTargetInfo(c Command) {
	id, ok := targetOf(c.Params)
	switch {
	case !ok:
		v.refuse(c, malformed())
	case id == "":
		c.Params = nil // of the session's own target
		v.forward(c)
	case v.targets[id] != nil:
		v.reply(c, member("targetInfo", v.info(v.targets[id])))
	case v.isOwn(id):
		c.Params = object("targetId", string(id))
		v.forward(c)
	default:
		v.refuse(c, noTarget())
	}
}

// targetOf reads targetId; "" where there is none.
func targetOf(params []byte) (messages.TargetID, bool) {
	p, err := rawcdp.ReadParams(params)
	return messages.TargetID(p.ID("targetId")), err == nil
}

func (v *View) onTarget(c Command) {
	switch id, ok := targetOf(c.Params); {
	case !ok || id == "":
		v.refuse(c, malformed())
	case !v.isOwn(id):
		v.refuse(c, noTarget())
	default:
		v.forward(Command{ID: c.ID, Session: c.Session, Method: c.Method, Params: object("targetId", string(id))})
	}
}

func (v *View) closeTarget(c Command) {
	id, ok := targetOf(c.Params)
	switch {
	case !ok || id == "":
		v.refuse(c, malformed())
	case !v.isOwn(id):
		v.refuse(c, noTarget())
	default:
		if page := v.pageOf(id); page != "" {
			v.do(Close{Tag: v.call(call{kind: kindClose, id: c.ID, session: c.Session}), Target: page})
			return
		}
		v.forward(Command{ID: c.ID, Session: c.Session, Method: c.Method, Params: object("targetId", string(id))})
	}
}

// pageOf is the page that closing a target closes; "" for one that is no page.
func (v *View) pageOf(id messages.TargetID) messages.TargetID {
	t := v.targets[id]
	switch {
	case t == nil:
		return ""
	case t.Type == "page":
		return id
	case t.Type == "tab":
		for _, s := range slices.Sorted(maps.Keys(v.sessions)) {
			if p := v.sessions[v.sessions[s].parent]; p != nil && p.target == id && v.sessions[s].kind == "page" {
				return v.sessions[s].target
			}
		}
	}
	return ""
}

// closePage closes the session's page as closeTarget does (C60).
func (v *View) closePage(c Command) {
	s := v.sessions[c.Session]
	if s == nil || s.kind != "page" {
		c.Params = nil // it takes none
		v.forward(c)
		return
	}
	v.do(Close{Tag: v.call(call{kind: kindPageClose, id: c.ID, session: c.Session, target: s.target}), Target: s.target})
}

func (v *View) createTarget(c Command) {
	p, err := rawcdp.ReadParams(c.Params)
	var given struct {
		URL        *string `json:"url"`
		NewWindow  bool    `json:"newWindow"`
		Background bool    `json:"background"`
	}
	if err != nil || json.Unmarshal(orObject(c.Params), &given) != nil || given.URL == nil {
		v.refuse(c, malformed())
		return
	}
	context := p.ID("browserContextId")
	switch {
	case context == v.cfg.DefaultContext:
		context = ""
	case context != "" && !v.contexts[context]:
		v.refuse(c, noContext(context))
		return
	}
	v.do(Open{Tag: v.call(call{kind: kindOpen, id: c.ID, session: c.Session}), URL: *given.URL, Context: context, IsNewWindow: given.NewWindow, IsBackground: given.Background})
}

// createBrowserContext makes a context that outlives the link: with disposeOnDetach it is
// disposed of when the client leaves.
func (v *View) createBrowserContext(c Command) {
	p, err := rawcdp.ReadParams(c.Params)
	var given struct {
		Dispose bool            `json:"disposeOnDetach"`
		Proxy   string          `json:"proxyServer,omitempty"`
		Bypass  string          `json:"proxyBypassList,omitempty"`
		Origins json.RawMessage `json:"originsWithUniversalNetworkAccess,omitempty"`
	}
	switch {
	case err != nil || json.Unmarshal(orObject(c.Params), &given) != nil:
		v.refuse(c, malformed())
		return
	case v.cfg.Caller.IsScoped && (p.Has("proxyServer") || p.Has("originsWithUniversalNetworkAccess")):
		v.refuse(c, &Error{Code: CodeServer, Message: "a task's token names no proxy and no origins for a browser context"})
		return
	case len(v.contexts) >= MaxContexts:
		v.refuse(c, &Error{Code: CodeServer, Message: "the task has " + strconv.Itoa(MaxContexts) + " browser contexts already"})
		return
	}
	isOwn := given.Dispose
	given.Dispose = false
	params, _ := json.Marshal(given) // what has been read encodes
	tag := v.call(call{kind: kindContext, id: c.ID, session: c.Session, isOwn: isOwn})
	v.do(Call{Tag: tag, Method: c.Method, Params: params, IsShared: true})
}

func (v *View) disposeBrowserContext(c Command) {
	p, err := rawcdp.ReadParams(c.Params)
	id := p.ID("browserContextId")
	switch {
	case err != nil || id == "":
		v.refuse(c, malformed())
	case !v.contexts[id]:
		v.refuse(c, &Error{Code: CodeServer, Message: "Failed to find context with id " + id})
	default:
		tag := v.call(call{kind: kindDispose, id: c.ID, session: c.Session, context: id})
		v.do(Dispose{Tag: tag, Context: id})
	}
}

func (v *View) getBrowserContexts(c Command) {
	ids := slices.Sorted(maps.Keys(v.contexts))
	if ids == nil {
		ids = []string{}
	}
	raw, _ := json.Marshal(struct {
		IDs     []string `json:"browserContextIds"`
		Default string   `json:"defaultBrowserContextId,omitempty"`
	}{ids, v.cfg.DefaultContext}) // always encodes
	v.reply(c, raw)
}

// closeBrowser ends this client's connection and nothing more.
func (v *View) closeBrowser(c Command) {
	v.reply(c, []byte(`{}`))
	v.do(Leave{})
}

func (v *View) getWindowForTarget(c Command) {
	id, ok := targetOf(c.Params)
	switch {
	case !ok:
		v.refuse(c, malformed())
	case id != "" && !v.isOwn(id):
		v.refuse(c, &Error{Code: CodeServer, Message: "No target with given id"})
	default:
		var params []byte // of the session's own target
		if id != "" {
			params = object("targetId", string(id))
		}
		v.do(Call{Tag: v.call(call{kind: kindWindow, id: c.ID, session: c.Session}), Session: c.Session, Method: c.Method, Params: params})
	}
}

// onWindow forwards a command to a window that the client has been told of.
func (v *View) onWindow(c Command) {
	p, err := rawcdp.ReadParams(c.Params)
	window, ok := p.Integer("windowId")
	switch {
	case err != nil || !ok:
		v.refuse(c, malformed())
	case !v.windows[window]:
		v.refuse(c, &Error{Code: CodeServer, Message: "Browser window not found"})
	default:
		v.forward(c)
	}
}

// setDownloadBehavior is kept within the task's browser context. Playwright sends it unasked
// when it connects, so where the task has no context of its own it is answered and does
// nothing.
func (v *View) setDownloadBehavior(c Command) {
	if v.cfg.Caller.IsShared && v.callerOf(c).Context == "" {
		v.reply(c, []byte(`{}`))
		return
	}
	v.judge(c)
}

// handleDialog gives the client's answer to the dialog actor, or tells it that there is
// nothing to answer.
func (v *View) handleDialog(c Command) {
	var p struct {
		Accept *bool   `json:"accept"`
		Text   *string `json:"promptText"`
	}
	s := v.sessions[c.Session]
	switch {
	case json.Unmarshal(orObject(c.Params), &p) != nil || p.Accept == nil:
		v.refuse(c, malformed())
	case v.cfg.Dialogs != DialogsClient || s == nil || s.kind != "page":
		v.refuse(c, noDialog())
	default:
		v.do(AnswerDialog{Tag: v.call(call{kind: kindDialog, id: c.ID, session: c.Session}), Target: s.target, IsAccepted: *p.Accept, Text: p.Text})
	}
}

func noDialog() *Error { return &Error{Code: CodeParams, Message: "No dialog is showing"} }

func orObject(params []byte) []byte {
	if len(params) == 0 || string(params) == "null" {
		return []byte(`{}`)
	}
	return params
}
