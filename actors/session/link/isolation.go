package link

import (
	"encoding/json"
	"fmt"
	"slices"

	"holdfast/actors/session/clip"
	"holdfast/actors/session/effect"
	"holdfast/messages"
	"holdfast/messages/mail"
)

// isolation is the task's browser context, as one link knows it.
type isolation struct {
	context   string // "" is the browser's own
	isAsking  bool   // whether there is one is not known yet
	isMade    bool   // by this link
	isRetried bool   // anew, since the one from before is gone
	isRooted  bool   // the browser has told of every page
	isEnding  bool   // the context is being disposed of
}

// isolate begins to give the task a browser context of its own, where the
// spec wants one and no earlier link has made it. Its replies come beside the attach.
func (m *Primary) isolate() {
	m.isolation.context = m.cfg.Context
	switch {
	case m.cfg.Scope != messages.ScopeOwn || m.cfg.Context != "":
	case m.cfg.Isolation == messages.IsolationContext:
		m.makeContext()
	case m.cfg.Isolation == messages.IsolationAuto:
		m.isolation.isAsking = true
		m.root(effect.Tag{Kind: TagVersion}, "Browser.getVersion", struct{}{}, 0)
	}
}

func (m *Primary) makeContext() {
	m.isolation.isAsking = true
	m.root(effect.Tag{Kind: TagContext}, "Target.createBrowserContext", struct{}{}, pageBudget)
}

// versionKnown comes with what the browser says of itself. In one with a window a
// context is a private window, without the logins of the person before it.
func (m *Primary) versionKnown(r effect.Replied) {
	m.display = displayOf(r)
	switch {
	case m.isLeaving:
		m.isolation.isAsking = false
		m.oneLeft()
	case messages.CodeOf(r.Err) == messages.CodeUpstreamUnavailable: // the link has ended
	case m.display == displayUnknown:
		m.share(messages.IsolationOffRefused)
	case m.display == displayHeadless:
		m.makeContext()
	default:
		m.share(messages.IsolationOffHeaded)
	}
}

func (m *Primary) share(why messages.IsolationOff) {
	m.isolated(mail.Isolated{Off: why})
}

func (m *Primary) contextMade(r effect.Replied) {
	var res contextParam
	err := r.Err
	if err == nil {
		err = json.Unmarshal(r.Result, &res)
	}
	if err == nil && res.ID == "" {
		err = fmt.Errorf("it names none")
	}
	switch {
	case m.isLeaving:
		m.isolation.isAsking = false
		if err == nil {
			m.isolation.context = res.ID
		}
		m.oneLeft()
	case messages.CodeOf(err) == messages.CodeUpstreamUnavailable: // the link has ended
	case err == nil:
		m.isolation.isMade = true
		m.isolated(mail.Isolated{Context: clip.Text(res.ID, clip.MaxID)})
	case m.cfg.Isolation == messages.IsolationContext:
		m.isolation.isAsking = false
		m.fail(messages.Errorf(messages.CodeCDPError, "the browser refused a browser context, which isolation context asks for: %s", reasonOf(err)))
	default:
		m.share(messages.IsolationOffRefused)
	}
}

func reasonOf(err error) string {
	if e, ok := err.(*messages.Error); ok {
		return e.Message
	}
	return err.Error()
}

// isolated continues an attach that has waited.
func (m *Primary) isolated(i mail.Isolated) {
	m.isolation.isAsking, m.isolation.context = false, i.Context
	i.Gen = m.cfg.Gen
	if i.Context != "" {
		m.download(i.Context)
	}
	m.do(effect.ToSupervisor{Msg: i})
	m.maybeKnown()
}

// maybeKnown waits for the browser's pages and for the task's context.
func (m *Primary) maybeKnown() {
	if m.isolation.isRooted && !m.isolation.isAsking && !m.isAttached && !m.isLeaving {
		m.existingPagesKnown()
	}
}

// isContextLost says that the first page could not be made since the context of an
// earlier link is gone: another browser answers. Then a new one is made, once.
func (m *Primary) isContextLost() bool {
	if m.cfg.Context == "" || m.isolation.isRetried {
		return false
	}
	m.cfg.Context, m.isolation.isRetried, m.isAttached = "", true, false
	m.isolate()
	return true
}

// disposeLast disposes of the task's contexts, once nothing of the task is left in
// them. A page that stays, since another client holds it (C15), keeps them.
func (m *Primary) disposeLast() bool {
	contexts := m.contexts()
	if len(contexts) == 0 || m.isolation.isEnding || m.pages.Len() > 0 {
		return false
	}
	m.isolation.isEnding, m.closing = true, len(contexts)
	for _, c := range contexts {
		m.do(disposeContext(effect.Tag{Kind: TagDispose}, c))
	}
	return true
}

// contexts are those that are the task's alone: its own, and what its clients have made.
func (m *Primary) contexts() (list []string) {
	if m.cfg.Scope != messages.ScopeOwn {
		return nil
	}
	if m.isolation.context != "" {
		list = append(list, m.isolation.context)
	}
	return append(list, m.cfg.Contexts...)
}

// isInContext says whether a page is the task's for the context it is in, whatever
// has opened it: a worker names no opener.
func (m *Primary) isInContext(a mail.TargetAttached) bool {
	return slices.Contains(m.contexts(), a.Info.Context)
}

type contextParam struct {
	ID string `json:"browserContextId"`
}

func disposeContext(tag effect.Tag, context string) effect.Command {
	return effect.OnBrowser(tag, "Target.disposeBrowserContext", contextParam{context}, pageBudget)
}
